"use client";
/**
 * Starts an instance of a published version, then goes to it.
 *
 * Holds: one dialog makes one instance however often its button is pressed: the call carries an idempotency key that
 * changes only with what is asked.
 */
import { useQuery } from "@tanstack/react-query";
import type { Route } from "next";
import { useRouter } from "next/navigation";
import { useMemo, useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { Field, Input, Select, TextArea } from "@/components/ui/field";
import { keyCharsMax } from "@/lib/base/limits";
import { parseJsonText } from "@/lib/formats/parse-json-text";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel } from "@/components/ui/states";
import { RelativeTime } from "@/components/ui/time-text";
import { useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { curlOf } from "@/lib/client/curl-of";
import type { ArgsOf } from "@/lib/client/client";

export function StartInstanceDialog({
  open,
  onOpenChange,
  chartId,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** Chosen beforehand, e.g. by the page's filter. */
  chartId: string | null;
}) {
  // A new form each time it opens: nothing of the last instance is left in it.
  return open ? <StartForm onOpenChange={onOpenChange} chartId={chartId} /> : null;
}

function StartForm({
  onOpenChange,
  chartId,
}: {
  onOpenChange: (open: boolean) => void;
  chartId: string | null;
}) {
  const client = useClient();
  const router = useRouter();
  const charts = useQuery({ queryKey: queryKeys.charts, queryFn: () => client.listCharts() });
  const published = (charts.data?.items ?? []).filter((chart) => chart.version !== null);
  const [chosen, setChosen] = useState<string | null>(chartId);
  const chart =
    published.find((candidate) => candidate.id === chosen) ?? (chosen === null ? published[0] : undefined);
  const detail = useQuery({
    queryKey: queryKeys.chart(chart?.id ?? ""),
    queryFn: () => client.getChart({ chartId: chart?.id ?? "" }),
    enabled: chart !== undefined,
  });
  const [version, setVersion] = useState("newest");
  const [input, setInput] = useState("");
  const [id, setId] = useState("");
  const [businessKey, setBusinessKey] = useState("");
  const parsed = parseJsonText(input);
  const args: ArgsOf<"startInstance"> | null =
    chart && parsed.ok
      ? {
          chartId: chart.id,
          ...(version === "newest" ? {} : { version: Number(version) }),
          ...(id.trim() === "" ? {} : { id: id.trim() }),
          ...(parsed.value === undefined ? {} : { input: parsed.value }),
          ...(businessKey.trim() === "" ? {} : { businessKey: businessKey.trim() }),
        }
      : null;
  const asked = JSON.stringify(args);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- a key for what is asked: made anew when that changes
  const idempotencyKey = useMemo(() => crypto.randomUUID(), [asked]);
  const start = useCall({
    mutationFn: (call: ArgsOf<"startInstance">) => client.startInstance(call, { idempotencyKey }),
    onSuccess: (instance) => {
      onOpenChange(false);
      router.push(`/instances/${encodeURIComponent(instance.id)}` as Route);
    },
  });
  const why = !charts.data
    ? "Loading charts"
    : published.length === 0
      ? "Publish a chart first"
      : !chart
        ? `${chosen ?? "The chart"} isn’t published`
        : !parsed.ok
          ? "Fix the input first"
          : null;

  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title="Start instance"
      testId="start-instance-dialog"
      footer={
        <>
          <CopyCurl
            variant="link"
            className="mr-auto"
            disabled={!args}
            line={() => (args ? curlOf("startInstance", args, { baseUrl: window.location.origin }) : "")}
          />
          {why ? <span className="text-hint text-text-2">{why}</span> : null}
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button
            variant="ink"
            type="submit"
            form="start-instance"
            disabled={!args || start.isPending}
            data-testid="start-instance-submit"
          >
            {start.isPending ? "Starting…" : "Start"}
          </Button>
        </>
      }
    >
      <form
        id="start-instance"
        className="grid grid-cols-2 gap-3.5"
        onSubmit={(event) => {
          event.preventDefault();
          if (args && !start.isPending) start.mutate(args);
        }}
      >
        <Field label="Chart">
          {(wiring) => (
            <Select
              {...wiring}
              value={chart?.id ?? ""}
              onChange={(event) => {
                setChosen(event.target.value);
                setVersion("newest");
              }}
              data-testid="start-chart"
            >
              {chart ? null : <option value="">Choose a chart</option>}
              {published.map((candidate) => (
                <option key={candidate.id}>{candidate.id}</option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Version">
          {(wiring) => (
            <Select
              {...wiring}
              value={version}
              onChange={(event) => setVersion(event.target.value)}
              data-testid="start-version"
            >
              <option value="newest">{chart?.version ? `newest, v${chart.version}` : "newest"}</option>
              {(detail.data?.versions ?? []).map((candidate) => (
                <option key={candidate.version} value={candidate.version}>
                  v{candidate.version}
                  {candidate.note ? ` · ${candidate.note}` : ""}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Id" hint="optional, else one is made">
          {(wiring) => (
            <Input
              {...wiring}
              mono
              value={id}
              maxLength={128}
              onChange={(event) => setId(event.target.value)}
              placeholder="agv-07"
              data-testid="start-id"
            />
          )}
        </Field>
        <Field label="Business key" hint="optional, your own name">
          {(wiring) => (
            <Input
              {...wiring}
              mono
              value={businessKey}
              maxLength={keyCharsMax}
              onChange={(event) => setBusinessKey(event.target.value)}
              placeholder="M-20931"
              data-testid="start-key"
            />
          )}
        </Field>
        <Field
          className="col-span-2"
          label="Input"
          hint="JSON, read as input in the chart"
          error={parsed.ok ? null : parsed.error}
        >
          {(wiring) => (
            <TextArea
              {...wiring}
              mono
              rows={6}
              value={input}
              onChange={(event) => setInput(event.target.value)}
              placeholder="{}"
              data-testid="start-input"
            />
          )}
        </Field>
        {detail.data && chart ? (
          <p className="col-span-2 text-hint text-text-3">
            Draft r{chart.revision}, changed <RelativeTime at={chart.updatedAt} />. Only published versions
            run.
          </p>
        ) : null}
        {start.error ? (
          <ErrorPanel className="col-span-2" title="Couldn’t start the instance" error={start.error} />
        ) : null}
      </form>
    </Dialog>
  );
}
