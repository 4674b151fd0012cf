"use client";
/**
 * What is asked of a worker, before it is: what it means, and the reason that the audit will keep.
 */
import { useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { Field, Input } from "@/components/ui/field";
import { ErrorPanel } from "@/components/ui/states";
import { showToast } from "@/components/ui/toast";
import { useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { curlOf } from "@/lib/client/curl-of";

export type WorkerAsk =
  { kind: "drain" | "undrain"; workerId: string } | { kind: "reset"; workerId: string; breaker: string };

const words = {
  drain: {
    label: "Drain",
    does: [
      "It finishes what it has and takes no more: no tasks, no timers, no waiting messages.",
      "Others go on with its work. When there is no other worker, all that waits goes on waiting.",
      "A task worker ends itself; a server goes on answering calls.",
    ],
  },
  undrain: { label: "Let it work again", does: ["It takes work again within seconds."] },
  reset: {
    label: "Reset the breaker",
    does: ["The next call goes through at once. If what is called still fails, the breaker opens again."],
  },
} as const;

export function WorkerDialog({ ask, onClose }: { ask: WorkerAsk; onClose: () => void }) {
  const client = useClient();
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const { workerId, kind } = ask;
  const { label, does } = words[kind];
  const given = reason.trim();
  const isGiven = given.length >= 3;
  const asked = useCall({
    mutationFn: async () => {
      if (ask.kind === "reset") await client.resetBreaker({ workerId, name: ask.breaker, reason: given });
      else await client.drainWorker({ workerId, drain: ask.kind === "drain", reason: given });
    },
    onSuccess: () => {
      showToast(`${workerId}: asked. It does so within seconds.`);
      onClose();
    },
  });
  const submit = (): void => {
    if (isGiven && !asked.isPending) asked.mutate();
  };
  const line = (): string => {
    const to = { baseUrl: window.location.origin };
    return ask.kind === "reset"
      ? curlOf("resetBreaker", { workerId, name: ask.breaker, reason: given }, to)
      : curlOf("drainWorker", { workerId, drain: ask.kind === "drain", reason: given }, to);
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={
        <>
          {label} <span className="font-mono">{ask.kind === "reset" ? ask.breaker : workerId}</span>
        </>
      }
      initialFocus={field}
      testId="worker-dialog"
      footer={
        <>
          <CopyCurl variant="link" className="mr-auto" line={line} />
          {isGiven ? null : <span className="text-hint text-text-2">Give a reason first</span>}
          <Button onClick={onClose}>Back</Button>
          <Button
            variant="ink"
            disabled={!isGiven || asked.isPending}
            onClick={submit}
            data-testid="worker-submit"
          >
            {asked.isPending ? "Asking…" : label}
          </Button>
        </>
      }
    >
      <ul className="mb-3.5 list-disc space-y-1 pl-4 text-body text-text-2">
        {does.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <Field label="Reason" hint="kept in the audit">
        {(wiring) => (
          <Input
            {...wiring}
            ref={field}
            value={reason}
            maxLength={1000}
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") submit();
            }}
          />
        )}
      </Field>
      {asked.error ? <ErrorPanel className="mt-3.5" title="Nothing was asked" error={asked.error} /> : null}
    </Dialog>
  );
}
