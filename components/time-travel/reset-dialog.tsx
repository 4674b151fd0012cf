"use client";
/**
 * Resets an instance to an earlier entry: where it goes on, what is abandoned for that, and the reason.
 *
 * Holds: what is counted as abandoned is what was there when it was shown: an instance that has moved on since is left alone.
 */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { shortStates } from "@/components/instances/state-name";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog, FooterHint } from "@/components/ui/dialog";
import { Field, Input } from "@/components/ui/field";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatAbsolute, formatCount } from "@/components/ui/time";
import { useZone } from "@/components/ui/time-zone";
import { useCall } from "@/components/ui/use-call";
import { useCallKey } from "@/components/ui/use-call-key";
import { useClient } from "@/components/ui/use-client";
import { LockstepError } from "@/lib/base/errors";
import { curlOf } from "@/lib/client/curl-of";
import type { ControlResult, InstanceView, StateAt } from "@/lib/contract/instances";
import { Choice } from "./choice";
import { readPoint, whyNotFrom } from "./reset-point";
import { useStateAt } from "./use-history";
import { isUnfinished, useTasks } from "./use-tasks";

const locksMax = 50;

export function ResetDialog({
  instance,
  at,
  onClose,
  onDone,
}: {
  instance: InstanceView;
  /** Where the cursor is pinned; null: at the newest entry. */
  at: number | null;
  onClose: () => void;
  onDone: (result: ControlResult) => void;
}) {
  const client = useClient();
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState(at === null ? "" : String(at));
  const [reason, setReason] = useState("");
  const [rearmTimers, setRearmTimers] = useState(false);
  const pointField = useRef<HTMLInputElement>(null);
  const reasonField = useRef<HTMLInputElement>(null);
  const keyOf = useCallKey();
  const point = readPoint(typed, instance.seq);
  const seq = point.seq ?? 0;
  const stateQuery = useStateAt(instance.id, seq);
  const then = stateQuery.data?.seq === seq ? stateQuery.data : null;
  const given = reason.trim();
  const timers = then?.timers.length ?? 0;
  const args = {
    instanceId: instance.id,
    seq,
    reason: given,
    rearmTimers: rearmTimers && timers > 0,
    expectedSeq: instance.seq,
  };
  const reset = useCall({
    mutationFn: () => client.resetInstance(args, { idempotencyKey: keyOf(args) }),
    onSuccess: (result) => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.instances });
      void queryClient.invalidateQueries({ queryKey: queryKeys.instance(instance.id) });
      onDone(result);
    },
  });
  const refused = reset.error instanceof LockstepError ? reset.error.details["field"] : undefined;
  const pointError =
    point.error ??
    (then ? whyNotFrom(then, instance) : null) ??
    (refused === "seq" ? (reset.error?.message ?? null) : null);
  const hint =
    point.seq === null
      ? "Choose an event first"
      : pointError
        ? "It can’t start there"
        : !then
          ? "Finding out…"
          : given === ""
            ? "Give a reason first"
            : null;
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={
        <span className="min-w-0 break-words">
          Reset <span className="font-mono">{instance.id}</span>
          {point.seq === null ? "" : ` to #${formatCount(point.seq)}`}
        </span>
      }
      initialFocus={at === null ? pointField : reasonField}
      width={560}
      testId="reset-dialog"
      footer={
        <>
          <CopyCurl
            variant="link"
            className="mr-auto"
            line={() => curlOf("resetInstance", args, { baseUrl: window.location.origin })}
          />
          {hint ? <FooterHint testId="reset-hint">{hint}</FooterHint> : null}
          <Button onClick={onClose}>Back</Button>
          <Button
            variant="danger"
            disabled={hint !== null || reset.isPending}
            onClick={() => reset.mutate()}
            data-testid="reset-submit"
          >
            {reset.isPending ? "Resetting…" : "Reset"}
          </Button>
        </>
      }
    >
      <Field label="To event" hint={`1 to ${formatCount(instance.seq)}`} error={pointError}>
        {(wiring) => (
          <Input
            {...wiring}
            ref={pointField}
            mono
            inputMode="numeric"
            className="w-32"
            value={typed}
            data-testid="reset-seq"
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
      </Field>
      {stateQuery.error && point.seq !== null ? (
        <ErrorPanel
          className="mt-3.5"
          title={`Couldn’t rebuild #${formatCount(seq)}`}
          error={stateQuery.error}
          onRetry={() => void stateQuery.refetch()}
        />
      ) : point.seq !== null && !pointError ? (
        <>
          <Abandoned instance={instance} seq={point.seq} then={then} rearmTimers={args.rearmTimers} />
          {timers > 0 ? (
            <Choice checked={rearmTimers} onChange={setRearmTimers}>
              Arm the {timers === 1 ? "timer" : `${formatCount(timers)} timers`} of #{formatCount(point.seq)}{" "}
              again, with the time {timers === 1 ? "it" : "they"} had left
            </Choice>
          ) : null}
        </>
      ) : null}
      <Field
        className="mt-4"
        label="Reason"
        hint="kept in its log and in the audit"
        error={refused === "reason" ? (reset.error?.message ?? null) : null}
      >
        {(wiring) => (
          <Input
            {...wiring}
            ref={reasonField}
            value={reason}
            maxLength={1000}
            data-testid="reset-reason"
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      {reset.error && refused !== "seq" && refused !== "reason" ? (
        <ErrorPanel className="mt-3.5" title={`Couldn’t reset ${instance.id}`} error={reset.error} />
      ) : null}
    </Dialog>
  );
}

/** Where it goes on, and what goes for that. */
function Abandoned({
  instance,
  seq,
  then,
  rearmTimers,
}: {
  instance: InstanceView;
  seq: number;
  then: StateAt | null;
  rearmTimers: boolean;
}) {
  const client = useClient();
  const { zone } = useZone();
  const tasks = useTasks(instance.id);
  const locks = useQuery({
    queryKey: [...queryKeys.locks, "held-by", instance.id],
    queryFn: ({ signal }) => client.listLocks({ search: instance.id, limit: locksMax }, { signal }),
  });
  const error = tasks.error ?? locks.error;
  if (error)
    return <ErrorPanel className="mt-3.5" title="Couldn’t read what would be abandoned" error={error} />;
  if (!then || !tasks.data || !locks.data) return <SkeletonRows rows={3} />;
  const later = instance.seq - seq;
  const open = tasks.data.items.filter(isUnfinished);
  const families = open.filter(({ kind }) => kind === "chart" || kind === "each");
  // Held by a state: without a lease. One that a client took under the instance's name stays the client's.
  const held = locks.data.items.filter(
    ({ holder, expiresAt }) => holder === instance.id && expiresAt === null,
  );
  const going = instance.timers.length;
  return (
    <>
      <p className="mt-3.5 text-body" data-testid="reset-then">
        It goes on in <strong className="font-semibold">{shortStates(then.configuration)}</strong>, with the
        data of #{formatCount(seq)} ({formatAbsolute(then.at, zone)}).
      </p>
      <h3 className="mt-3.5 mb-1 text-hint font-medium">Abandoned for that</h3>
      <ul className="list-disc space-y-1 pl-4 text-body text-text-2" data-testid="reset-abandoned">
        <li>
          {later === 0
            ? "No event: it is the newest."
            : `${formatCount(later)} ${later === 1 ? "event" : "events"} after #${formatCount(seq)}: the log keeps them, state and data no longer show them.`}
        </li>
        {open.length > 0 ? (
          <li>
            {formatCount(open.length)} {open.length === 1 ? "task is" : "tasks are"} cancelled:{" "}
            <Names names={open.map(({ invokeId }) => invokeId)} />
            {families.length > 0 ? ", with the children under way" : ""}.
          </li>
        ) : null}
        {held.length > 0 ? (
          <li>
            {formatCount(held.length)} {held.length === 1 ? "lock is" : "locks are"} released:{" "}
            <Names names={held.map(({ key }) => key)} />.
          </li>
        ) : null}
        {going > 0 ? (
          <li>
            {formatCount(going)} armed {going === 1 ? "timer goes" : "timers go"}
            {rearmTimers ? ", those of then are armed" : ""}.
          </li>
        ) : null}
      </ul>
      <h3 className="mt-3.5 mb-1 text-hint font-medium">Not undone</h3>
      <ul className="list-disc space-y-1 pl-4 text-body text-text-2">
        <li>What it did outside since: calls made, messages sent. Nothing is compensated.</li>
        {instance.pending > 0 ? (
          <li>
            {formatCount(instance.pending)}{" "}
            {instance.pending === 1 ? "message that waits stays" : "messages that wait stay"}, to be applied
            after it.
          </li>
        ) : null}
      </ul>
    </>
  );
}

const namesMax = 5;

function Names({ names }: { names: readonly string[] }) {
  const more = names.length - namesMax;
  return (
    <>
      <span className="font-mono text-table break-words text-text">
        {names.slice(0, namesMax).join(", ")}
      </span>
      {more > 0 ? ` and ${formatCount(more)} more` : ""}
    </>
  );
}
