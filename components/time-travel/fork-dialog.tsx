"use client";
/**
 * A new instance from this moment of another: what goes along is said, what may go along is asked.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog, FooterHint } from "@/components/ui/dialog";
import { Field, Input } from "@/components/ui/field";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel } from "@/components/ui/states";
import { formatCount } from "@/components/ui/time";
import { useCall } from "@/components/ui/use-call";
import { useCallKey } from "@/components/ui/use-call-key";
import { useClient } from "@/components/ui/use-client";
import { curlOf } from "@/lib/client/curl-of";
import { Choice } from "./choice";

export function ForkDialog({
  instanceId,
  seq,
  later,
  onClose,
  onForked,
}: {
  instanceId: string;
  seq: number;
  /** Entries after it. */
  later: number;
  onClose: () => void;
  onForked: (id: string) => void;
}) {
  const client = useClient();
  const queryClient = useQueryClient();
  const [reason, setReason] = useState("");
  const [rearmTimers, setRearmTimers] = useState(false);
  const [laterEvents, setLaterEvents] = useState(false);
  const keyOf = useCallKey();
  const field = useRef<HTMLInputElement>(null);
  const args = { instanceId, seq, reason: reason.trim(), rearmTimers, laterEvents };
  const fork = useCall({
    mutationFn: () => client.forkInstance(args, { idempotencyKey: keyOf(args) }),
    onSuccess: ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.instances });
      onForked(id);
    },
  });
  const ready = args.reason !== "" && !fork.isPending;
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={
        <>
          Fork <span className="font-mono">{instanceId}</span> from #{formatCount(seq)}
        </>
      }
      initialFocus={field}
      testId="fork-dialog"
      footer={
        <>
          <CopyCurl
            variant="link"
            className="mr-auto"
            line={() => curlOf("forkInstance", args, { baseUrl: window.location.origin })}
          />
          {args.reason === "" ? <FooterHint>Give a reason first</FooterHint> : null}
          <Button onClick={onClose}>Back</Button>
          <Button variant="ink" disabled={!ready} onClick={() => fork.mutate()} data-testid="fork-submit">
            {fork.isPending ? "Forking…" : "Fork"}
          </Button>
        </>
      }
    >
      <ul className="mb-3.5 list-disc space-y-1 pl-4 text-body text-text-2">
        <li>A new instance begins with this state and this data. This one is left as it is.</li>
        <li>No task is sent again, and no lock goes along: a state that waits for one waits on.</li>
      </ul>
      <Field label="Reason" hint="kept in its log and in the audit">
        {(wiring) => (
          <Input
            {...wiring}
            ref={field}
            value={reason}
            maxLength={1000}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      <Choice checked={rearmTimers} onChange={setRearmTimers}>
        Arm its timers again, with the time they had left here
      </Choice>
      {later > 0 ? (
        <Choice checked={laterEvents} onChange={setLaterEvents}>
          Send it the events from outside that came after #{formatCount(seq)}
        </Choice>
      ) : null}
      {fork.error ? <ErrorPanel className="mt-3.5" title="Couldn’t fork it" error={fork.error} /> : null}
    </Dialog>
  );
}
