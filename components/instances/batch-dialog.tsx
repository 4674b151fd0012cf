"use client";
/**
 * A verb for many instances, before it is done: how many they are and which of them it fits, counted by the server; a reason; for
 * what is not brought back the count typed.
 *
 * Holds: what was counted is what is asked for; two presses make one batch; Enter never confirms.
 */
import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useMemo, useRef, useState, type KeyboardEvent } from "react";
import { Button } from "@/components/ui/button";
import { Chip } from "@/components/ui/chip";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { Field, Input, TextArea } from "@/components/ui/field";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel } from "@/components/ui/states";
import { formatCount } from "@/components/ui/time";
import { useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { curlOf } from "@/lib/client/curl-of";
import type { ArgsOf } from "@/lib/client/client";
import type { BatchCount, BatchSelection, BatchVerb, BatchView } from "@/lib/contract/batches";
import { batchWords, instancesWords, numberProblem, targetWords, unfit } from "./batch-words";

export function BatchDialog({
  verb,
  selection,
  onClose,
  onMade,
}: {
  verb: BatchVerb;
  selection: BatchSelection;
  onClose: () => void;
  onMade: (batch: BatchView) => void;
}) {
  const client = useClient();
  const [reason, setReason] = useState("");
  const [rate, setRate] = useState("");
  const [version, setVersion] = useState("");
  const [seq, setSeq] = useState("1");
  const [mapping, setMapping] = useState("");
  const [typed, setTyped] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const words = batchWords[verb];
  const counted = useQuery({
    queryKey: [...queryKeys.batches, "count", selection],
    queryFn: ({ signal }) => client.countBatch({ selection }, { signal }),
  });
  const pairs = readMapping(mapping);
  const rateProblem = numberProblem(rate, 10_000);
  const seqProblem = seq === "" ? "Name an entry." : numberProblem(seq, Number.MAX_SAFE_INTEGER);
  const versionProblem = numberProblem(version, Number.MAX_SAFE_INTEGER);
  const args: ArgsOf<"createBatch"> = {
    verb,
    selection,
    reason: reason.trim(),
    ...(rate === "" ? {} : { ratePerSecond: Number(rate) }),
    ...(verb === "migrate"
      ? { version: Number(version), ...(typeof pairs === "string" ? {} : { mapping: pairs }) }
      : {}),
    ...(verb === "reset" ? { seq: Number(seq) } : {}),
  };
  const asked = JSON.stringify(args);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- a key for what is asked: made anew when that changes
  const idempotencyKey = useMemo(() => crypto.randomUUID(), [asked]);
  const make = useCall({
    mutationFn: () => client.createBatch(args, { idempotencyKey }),
    onSuccess: onMade,
  });
  const count = counted.data;
  const typedCount = count ? String(count.count) : "";
  const target =
    seqProblem || versionProblem
      ? null
      : targetWords({
          verb,
          seq: verb === "reset" ? Number(seq) : null,
          version: verb === "migrate" && version !== "" ? Number(version) : null,
        });
  const why = !count
    ? "Counting"
    : count.count === 0
      ? "There is none any more"
      : args.reason === ""
        ? "Give a reason first"
        : verb === "migrate" && version === ""
          ? "Name the version first"
          : rateProblem ||
              (verb === "reset" && seqProblem) ||
              (verb === "migrate" && (versionProblem || typeof pairs === "string"))
            ? "Fix what is marked first"
            : words.danger && typed.replaceAll(",", "") !== typedCount
              ? "Type the count first"
              : null;

  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={
        <>
          {words.label}
          {count ? <Chip className="font-sans tabular-nums">{instancesWords(count)}</Chip> : null}
        </>
      }
      width={560}
      initialFocus={field}
      testId="batch-dialog"
      footer={
        <>
          <CopyCurl
            variant="link"
            className="mr-auto"
            line={() => curlOf("createBatch", args, { baseUrl: window.location.origin, idempotencyKey })}
          />
          {why ? <span className="text-hint text-text-2">{why}</span> : null}
          <Button onClick={onClose}>Back</Button>
          <Button
            variant={words.danger ? "danger" : "ink"}
            disabled={why !== null || make.isPending}
            onClick={() => make.mutate()}
            data-testid="batch-submit"
          >
            {make.isPending
              ? "Asking…"
              : [words.label, count ? instancesWords(count) : null, target]
                  .filter((part) => part !== null)
                  .join(" ")}
          </Button>
        </>
      }
    >
      {counted.error ? (
        <ErrorPanel
          title="Couldn’t count them"
          error={counted.error}
          onRetry={() => void counted.refetch()}
          className="mb-3.5"
        />
      ) : (
        <Counted verb={verb} count={count} whole={"filter" in selection} />
      )}
      <ul className="my-3.5 list-disc space-y-1 pl-4 text-body text-text-2">
        {words.does.map((line) => (
          <li key={line}>{line}</li>
        ))}
        <li>Workers do it one after the other. You can stop it; what is done by then stays done.</li>
      </ul>
      <div className="grid grid-cols-[1fr_150px] gap-3.5">
        <Field
          label="Reason"
          hint={verb === "delete" ? "kept in the audit" : "kept in each log and in the audit"}
        >
          {(wiring) => (
            <Input
              {...wiring}
              ref={field}
              value={reason}
              maxLength={1000}
              onChange={(event) => setReason(event.target.value)}
              onKeyDown={refuseEnter}
              data-testid="batch-reason"
            />
          )}
        </Field>
        <Field label="At most" hint="a second" error={rateProblem}>
          {(wiring) => (
            <Input
              {...wiring}
              inputMode="numeric"
              value={rate}
              placeholder="no limit"
              onChange={(event) => setRate(event.target.value.trim())}
              onKeyDown={refuseEnter}
              data-testid="batch-rate"
            />
          )}
        </Field>
        {verb === "migrate" ? (
          <>
            <Field
              label="States by another name"
              hint="old=new, one a line"
              error={typeof pairs === "string" ? pairs : null}
            >
              {(wiring) => (
                <TextArea
                  {...wiring}
                  mono
                  rows={2}
                  value={mapping}
                  onChange={(event) => setMapping(event.target.value)}
                />
              )}
            </Field>
            <Field label="To version" error={versionProblem}>
              {(wiring) => (
                <Input
                  {...wiring}
                  inputMode="numeric"
                  value={version}
                  onChange={(event) => setVersion(event.target.value.trim())}
                  onKeyDown={refuseEnter}
                  data-testid="batch-version"
                />
              )}
            </Field>
          </>
        ) : null}
        {verb === "reset" ? (
          <Field className="col-span-2" label="To entry" hint="by its seq; 1 is the start" error={seqProblem}>
            {(wiring) => (
              <Input
                {...wiring}
                inputMode="numeric"
                value={seq}
                onChange={(event) => setSeq(event.target.value.trim())}
                onKeyDown={refuseEnter}
                data-testid="batch-seq"
              />
            )}
          </Field>
        ) : null}
        {words.danger && count && count.count > 0 ? (
          <Field
            className="col-span-2"
            label={
              <>
                Type <span className="font-mono">{formatCount(count.count)}</span> to confirm
              </>
            }
          >
            {(wiring) => (
              <Input
                {...wiring}
                mono
                value={typed}
                onChange={(event) => setTyped(event.target.value.trim())}
                onKeyDown={refuseEnter}
                data-testid="batch-typed"
              />
            )}
          </Field>
        ) : null}
      </div>
      {make.error ? <ErrorPanel className="mt-3.5" title={`Couldn’t ask for it`} error={make.error} /> : null}
    </Dialog>
  );
}

const refuseEnter = (event: KeyboardEvent): void => {
  if (event.key === "Enter") event.preventDefault();
};

function Counted({ verb, count, whole }: { verb: BatchVerb; count: BatchCount | undefined; whole: boolean }) {
  if (!count) return <p className="h-9 text-body text-text-3">Counting…</p>;
  const not = unfit(verb, count);
  const each = count.byStatus.map(({ status, count: many }) => `${formatCount(many)} ${status}`).join(" · ");
  return (
    <div className="rounded-box bg-surface-2 px-3 py-2 text-body" data-testid="batch-count">
      <p>
        <strong className="font-semibold tabular-nums">{instancesWords(count)}</strong>
        {whole ? " match now" : " selected"}
        <span className="text-text-2">{each === "" ? "" : `: ${each}`}</span>
      </p>
      {not === null || not === 0 ? null : (
        <p className="mt-0.5 flex items-center gap-1.5 text-exited">
          <TriangleAlert size={13} aria-hidden className="shrink-0" />
          {formatCount(not)} of them {not === 1 ? "has" : "have"} a status that it doesn’t fit: refused or
          skipped, the others go on.
        </p>
      )}
    </div>
  );
}

/** Pairs of names, or what is wrong with them. */
function readMapping(text: string): Record<string, string> | string {
  const pairs: Record<string, string> = {};
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line === "") continue;
    const at = line.indexOf("=");
    if (at < 1) return `"${line.slice(0, 40)}" is no pair: write old=new, one a line.`;
    pairs[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return pairs;
}
