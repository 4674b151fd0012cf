"use client";
/**
 * The processes that work: who, since when, how busy, heard of when; the chosen one beside the list, with what can be asked
 * of it.
 *
 * Holds: ages are counted on the database's clock; the list is read again each 5 s and keeps what is chosen.
 */
import { useQuery } from "@tanstack/react-query";
import { Cpu, ZapOff } from "lucide-react";
import { useState } from "react";
import { useDatabaseNow } from "@/components/locks/use-database-now";
import { Button } from "@/components/ui/button";
import { Chip, type Tone } from "@/components/ui/chip";
import { DataTable, type Column } from "@/components/ui/data-table";
import { ListFooter } from "@/components/ui/list-footer";
import { PageHeader } from "@/components/ui/page-header";
import { queryKeys } from "@/components/ui/query-keys";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatAge, formatClock, formatCount } from "@/components/ui/time";
import { RelativeTime } from "@/components/ui/time-text";
import { useZone } from "@/components/ui/time-zone";
import { useClient } from "@/components/ui/use-client";
import { useUrlParams } from "@/components/ui/use-url-params";
import type { WorkerView } from "@/lib/contract/tasks";
import { WorkerDialog, type WorkerAsk } from "./worker-dialog";

/** Workers make no news in the live stream; they beat each 10 s. */
const rereadMs = 5_000;

export function WorkersPage() {
  const client = useClient();
  const [params, setParams] = useUrlParams();
  const [ask, setAsk] = useState<WorkerAsk | null>(null);
  const page = useQuery({
    queryKey: queryKeys.workers,
    queryFn: ({ signal }) => client.listWorkers({}, { signal }),
    refetchInterval: rereadMs,
  });
  const now = useDatabaseNow(page.data, page.dataUpdatedAt);
  const items = page.data?.items ?? [];
  const chosen = params.get("worker");
  const selected = items.find(({ id }) => id === chosen) ?? items[0] ?? null;

  return (
    <>
      <PageHeader
        crumbs={[{ label: "Work", href: "/work" }]}
        title="Workers"
        subtitle="Processes that step instances or carry out tasks"
      />
      <div className="flex min-h-0 flex-1 max-md:flex-col max-md:overflow-y-auto">
        <div className="flex min-w-0 flex-1 flex-col bg-surface max-md:min-h-96 max-md:flex-none">
          <div className="min-h-0 flex-1 overflow-auto" data-testid="worker-list">
            {page.error && !page.data ? (
              <div className="p-5">
                <ErrorPanel
                  title="Couldn’t list the workers"
                  error={page.error}
                  onRetry={() => void page.refetch()}
                />
              </div>
            ) : !page.data ? (
              <SkeletonRows rows={6} />
            ) : items.length === 0 ? (
              <Empty icon={Cpu} title="Nobody works">
                Start a server, or <span className="font-mono text-table">npm run worker</span> beside it.
              </Empty>
            ) : (
              <DataTable
                caption="Workers"
                columns={columnsAt(now)}
                rows={items}
                rowKey={({ id }) => id}
                href={({ id }) => `/work/workers?worker=${encodeURIComponent(id)}`}
                onOpen={({ id }) => setParams({ worker: id }, "push")}
                onActive={({ id }) => setParams({ worker: id })}
                selectedKey={selected?.id ?? null}
                rowTestId="worker-row"
              />
            )}
          </div>
          <ListFooter
            count={page.data ? `${formatCount(items.length)} shown` : ""}
            keys={[[["J", "K"], "move"]]}
          />
        </div>
        {selected === null ? null : <WorkerPanel worker={selected} onAsk={setAsk} />}
      </div>
      {ask === null ? null : (
        <WorkerDialog
          ask={ask}
          onClose={() => {
            setAsk(null);
            void page.refetch();
          }}
        />
      )}
    </>
  );
}

const looks: Record<WorkerView["status"], { tone: Tone; word: string }> = {
  working: { tone: "active", word: "working" },
  draining: { tone: "exited", word: "draining" },
  silent: { tone: "failed", word: "silent" },
};

function StatusChip({ worker }: { worker: WorkerView }) {
  const { tone, word } = looks[worker.status];
  const isAsked = worker.drainAsked && worker.status === "working";
  return (
    <Chip tone={isAsked ? "exited" : tone} dot={worker.status === "working"}>
      {isAsked ? "drain asked" : word}
    </Chip>
  );
}

function columnsAt(now: number | null): Column<WorkerView>[] {
  const ago = (at: number) => (now === null ? "–" : formatAge(Math.max(0, now - at)));
  return [
    { key: "id", header: "Worker", cell: ({ id }) => <span className="font-mono">{id}</span> },
    { key: "status", header: "Status", width: "118px", cell: (worker) => <StatusChip worker={worker} /> },
    {
      key: "kind",
      header: "Does",
      width: "110px",
      cell: ({ kind }) => (kind === "runtime" ? "steps" : "tasks"),
    },
    {
      key: "load",
      header: "Tasks",
      width: "72px",
      align: "right",
      cell: ({ running, slots }) => `${running} of ${slots}`,
    },
    {
      key: "breakers",
      header: "Breakers",
      width: "90px",
      align: "right",
      cell: ({ breakers }) =>
        breakers.length === 0 ? (
          <span className="text-text-3">closed</span>
        ) : (
          <span className="text-failed">{breakers.length} open</span>
        ),
    },
    { key: "since", header: "Since", width: "72px", align: "right", cell: ({ startedAt }) => ago(startedAt) },
    { key: "seen", header: "Seen", width: "72px", align: "right", cell: ({ seenAt }) => ago(seenAt) },
  ];
}

function WorkerPanel({ worker, onAsk }: { worker: WorkerView; onAsk: (ask: WorkerAsk) => void }) {
  const { id, types, partitions, breakers, drainAsked, note, startedAt } = worker;
  const { zone } = useZone();
  return (
    <section
      aria-label={id}
      className="flex w-[380px] shrink-0 flex-col gap-3.5 overflow-y-auto border-l border-border bg-surface px-4 py-3 text-body max-md:w-full max-md:border-l-0"
      data-testid="worker-panel"
    >
      <h2 className="font-mono font-semibold break-all">{id}</h2>
      <div className="flex items-center gap-2">
        <StatusChip worker={worker} />
        <Button
          size="sm"
          onClick={() => onAsk({ kind: drainAsked ? "undrain" : "drain", workerId: id })}
          data-testid="worker-drain"
        >
          {drainAsked ? "Let it work again" : "Drain"}
        </Button>
      </div>
      <dl className="grid grid-cols-[92px_minmax(0,1fr)] gap-x-3 gap-y-1.5">
        <dt className="text-text-3">Since</dt>
        <dd>
          <RelativeTime at={startedAt} />
        </dd>
        <dt className="text-text-3">Tasks of type</dt>
        <dd className="font-mono break-words">{types.length === 0 ? "–" : types.join(", ")}</dd>
        <dt className="text-text-3">Partitions</dt>
        <dd>{partitions ?? "all"}</dd>
        {note === null ? null : (
          <>
            <dt className="text-text-3">Says</dt>
            <dd className="break-words">{note}</dd>
          </>
        )}
      </dl>
      <div>
        <h3 className="mb-1.5 font-semibold">Breakers</h3>
        {breakers.length === 0 ? (
          <p className="text-text-2">All are closed: every call goes through.</p>
        ) : (
          <ul className="grid gap-1.5">
            {breakers.map(({ name, state, until }) => (
              <li key={name} className="flex items-center gap-2">
                <ZapOff size={14} aria-hidden className="text-failed" />
                <span className="min-w-0 flex-1 truncate font-mono" title={name}>
                  {name}
                </span>
                <span className="text-text-2">
                  {state === "open" ? "open" : "one call tries"}
                  {until === null ? "" : ` until ${formatClock(until, zone, "coarse")}`}
                </span>
                <Button size="sm" onClick={() => onAsk({ kind: "reset", workerId: id, breaker: name })}>
                  Reset
                </Button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}
