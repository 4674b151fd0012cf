"use client";
/**
 * ⌘K: every page, chart and instance by name, and the commands that start something.
 *
 * Holds: asks for instances by id prefix only, at most 8; nothing is asked while it is closed.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { Boxes, Keyboard, Moon, Plus, Search, Sun, Workflow, type LucideIcon } from "lucide-react";
import { useRouter } from "next/navigation";
import { useTheme } from "next-themes";
import { Dialog as Radix } from "radix-ui";
import { useState, type ReactNode } from "react";
import { queryKeys } from "../query-keys";
import { useClient } from "../use-client";
import { rooms } from "./rooms";

const instancesMax = 8;
const idPrefixPattern = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;

export function CommandMenu({
  open,
  onOpenChange,
  onShowKeys,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onShowKeys: () => void;
}) {
  const router = useRouter();
  const client = useClient();
  const { resolvedTheme, setTheme } = useTheme();
  const [search, setSearch] = useState("");
  const charts = useQuery({ queryKey: queryKeys.charts, queryFn: () => client.listCharts(), enabled: open });
  const prefix = search.trim();
  const instances = useQuery({
    queryKey: [...queryKeys.instances, "command", prefix],
    queryFn: ({ signal }) => client.listInstances({ idPrefix: prefix, limit: instancesMax }, { signal }),
    enabled: open && idPrefixPattern.test(prefix),
    placeholderData: keepPreviousData,
  });
  const close = (then: () => void) => () => {
    onOpenChange(false);
    setSearch("");
    then();
  };
  const go = (href: string) => close(() => router.push(href));

  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-800 animate-fade-in bg-shade" />
        <Radix.Content
          aria-describedby={undefined}
          data-testid="command-menu"
          className="fixed inset-x-0 top-[14vh] z-800 mx-auto w-[560px] max-w-[calc(100vw-32px)] animate-panel-in overflow-hidden rounded-dialog border border-border-2 bg-surface shadow-3"
        >
          <Radix.Title className="sr-only">Search or run</Radix.Title>
          <Command label="Search or run" loop>
            <div className="flex h-11 items-center gap-2.5 border-b border-border px-3.5">
              <Search size={15} aria-hidden className="text-text-3" />
              <Command.Input
                value={search}
                onValueChange={setSearch}
                placeholder="A page, a chart, an instance id…"
                className="h-full flex-1 bg-transparent text-title outline-none"
              />
            </div>
            <Command.List className="max-h-[46vh] overflow-y-auto p-1.5">
              <Command.Empty className="px-3 py-6 text-center text-text-2">
                Nothing is called “{search}”. Instances are found by the start of their id.
              </Command.Empty>
              <Group heading="Pages">
                {rooms.map((room) => (
                  <Item key={room.href} value={`page ${room.name}`} icon={room.icon} onSelect={go(room.href)}>
                    {room.name}
                  </Item>
                ))}
              </Group>
              <Group heading="Commands">
                <Item value="start instance" icon={Plus} onSelect={go("/instances?start=1")}>
                  Start instance…
                </Item>
                <Item value="new chart" icon={Plus} onSelect={go("/charts?new=1")}>
                  New chart…
                </Item>
                <Item value="import chart" icon={Plus} onSelect={go("/charts?import=1")}>
                  Import chart…
                </Item>
                <Item
                  value="theme light dark"
                  icon={resolvedTheme === "dark" ? Sun : Moon}
                  onSelect={close(() => setTheme(resolvedTheme === "dark" ? "light" : "dark"))}
                >
                  {resolvedTheme === "dark" ? "Light theme" : "Dark theme"}
                </Item>
                <Item value="keys shortcuts" icon={Keyboard} onSelect={close(onShowKeys)}>
                  Keys
                </Item>
              </Group>
              {charts.data && charts.data.items.length > 0 ? (
                <Group heading="Charts">
                  {charts.data.items.map((chart) => (
                    <Item
                      key={chart.id}
                      value={`chart ${chart.id}`}
                      icon={Workflow}
                      onSelect={go(`/charts/${encodeURIComponent(chart.id)}`)}
                    >
                      <span className="font-mono text-table">{chart.id}</span>
                      <span className="text-text-3">
                        {chart.version === null ? "draft" : `v${chart.version}`}
                      </span>
                    </Item>
                  ))}
                </Group>
              ) : null}
              {instances.data && prefix && instances.data.items.length > 0 ? (
                <Group heading="Instances">
                  {instances.data.items.map((instance) => (
                    <Item
                      key={instance.id}
                      value={`instance ${instance.id}`}
                      icon={Boxes}
                      onSelect={go(`/instances/${encodeURIComponent(instance.id)}`)}
                    >
                      <span className="font-mono text-table">{instance.id}</span>
                      <span className="text-text-3">
                        {instance.chartId} v{instance.version} · {instance.status}
                      </span>
                    </Item>
                  ))}
                </Group>
              ) : null}
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-hint [&_[cmdk-group-heading]]:text-text-3"
    >
      {children}
    </Command.Group>
  );
}

function Item({
  value,
  icon: Icon,
  onSelect,
  children,
}: {
  value: string;
  icon: LucideIcon;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex h-8 cursor-default items-center gap-2.5 rounded-control px-2 data-[selected=true]:bg-surface-2"
    >
      <Icon size={14} aria-hidden className="text-text-3" />
      <span className="flex min-w-0 flex-1 items-center gap-2 truncate">{children}</span>
    </Command.Item>
  );
}
