"use client";
/**
 * Deletes an instance: what that does, then its id typed.
 *
 * Holds: what is deleted is the life that was looked at when its id was typed. One that has moved on, or was deleted and made
 * anew under the same id, is read again and confirmed again.
 */
import { useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog, FooterHint } from "@/components/ui/dialog";
import { Field, Input } from "@/components/ui/field";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel } from "@/components/ui/states";
import { useCall } from "@/components/ui/use-call";
import { useCallKey } from "@/components/ui/use-call-key";
import { useClient } from "@/components/ui/use-client";
import { LockstepError } from "@/lib/base/errors";
import { curlOf } from "@/lib/client/curl-of";
import type { InstanceView } from "@/lib/contract/instances";
import { changedSince, type Life } from "./changed-since";

export function DeleteInstanceDialog({
  instance,
  onClose,
  onDeleted,
}: {
  /** As it is now: read again while the dialog is open. */
  instance: InstanceView;
  onClose: () => void;
  /** `replayed`: it had been deleted by this very call before. */
  onDeleted: (result: { replayed: boolean }) => void;
}) {
  const client = useClient();
  const queryClient = useQueryClient();
  const instanceId = instance.id;
  const [typed, setTyped] = useState("");
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const keyOf = useCallKey();
  const [seen, setSeen] = useState<Life>(instance);
  const [changed, setChanged] = useState<string | null>(null);
  const lookAgain = (since: Life, now: Life): void => {
    setChanged(changedSince(since, now));
    setSeen(now);
    setTyped("");
  };
  if (instance.incarnation !== seen.incarnation) lookAgain(seen, instance);
  const args = {
    instanceId,
    // Never that of another life: seq goes on counting through all of them.
    expectedSeq: instance.seq,
    ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
  };
  const remove = useCall({
    mutationFn: (asked: typeof args) => client.deleteInstance(asked, { idempotencyKey: keyOf(asked) }),
    onSuccess: (result) => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.instances });
      onDeleted(result);
    },
    onError: async (error, { expectedSeq }) => {
      if (!isConflict(error)) return;
      const read = queryClient.fetchQuery({
        queryKey: queryKeys.instance(instanceId),
        queryFn: ({ signal }) => client.getInstance({ instanceId }, { signal }),
        staleTime: 0,
      });
      await read.then(
        (now) => lookAgain({ ...seen, seq: expectedSeq }, now),
        (unread: unknown) => setChanged(unread instanceof Error ? unread.message : String(unread)),
      );
      field.current?.focus();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={
        <>
          Delete <span className="font-mono">{instanceId}</span>
        </>
      }
      initialFocus={field}
      testId="delete-instance-dialog"
      footer={
        <>
          <CopyCurl
            variant="link"
            className="mr-auto"
            line={() => curlOf("deleteInstance", args, { baseUrl: window.location.origin })}
          />
          {typed === instanceId ? null : <FooterHint>Type the whole id first</FooterHint>}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="danger"
            disabled={typed !== instanceId || remove.isPending}
            onClick={() => remove.mutate(args)}
            data-testid="delete-instance-submit"
          >
            {remove.isPending ? "Deleting…" : "Delete"}
          </Button>
        </>
      }
    >
      <ul className="mb-3.5 list-disc space-y-1 pl-4 text-body text-text-2">
        <li>Its messages, timers and waits end at once. Locks it holds get a higher fence.</li>
        <li>A step under way lands before this or is refused, never after.</li>
        <li>Its log stays. An instance made anew under this id goes on counting seq after it.</li>
      </ul>
      {changed === null ? null : (
        <p
          role="alert"
          className="mb-3.5 flex gap-2 rounded-box bg-exited-soft px-3 py-2 text-body text-exited"
          data-testid="delete-instance-changed"
        >
          <TriangleAlert size={14} aria-hidden className="mt-0.5 shrink-0" />
          <span className="min-w-0">{changed}</span>
        </p>
      )}
      <Field label="Reason" hint="kept in the audit; may be left out">
        {(wiring) => (
          <Input
            {...wiring}
            value={reason}
            maxLength={1000}
            data-testid="delete-instance-reason"
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      <Field
        className="mt-3.5"
        label={
          <>
            Type <span className="font-mono">{instanceId}</span> to confirm
          </>
        }
      >
        {(wiring) => (
          <Input
            {...wiring}
            ref={field}
            mono
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
      </Field>
      {remove.error && !isConflict(remove.error) ? (
        <ErrorPanel className="mt-3.5" title={`Couldn’t delete ${instanceId}`} error={remove.error} />
      ) : null}
    </Dialog>
  );
}

const isConflict = (error: Error): boolean =>
  error instanceof LockstepError && error.code === "sequence-conflict";
