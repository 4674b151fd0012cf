"use client";
/**
 * Deletes an instance: what that does, then its id typed.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog, FooterHint } from "@/components/ui/dialog";
import { Field, Input } from "@/components/ui/field";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel } from "@/components/ui/states";
import { useClient } from "@/components/ui/use-client";
import { curlOf } from "@/lib/client/curl-of";

export function DeleteInstanceDialog({
  instanceId,
  onClose,
  onDeleted,
}: {
  instanceId: string;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const client = useClient();
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const remove = useMutation({
    mutationFn: () => client.deleteInstance({ instanceId }, { idempotencyKey }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.instances });
      onDeleted();
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
            line={() => curlOf("deleteInstance", { instanceId }, { baseUrl: window.location.origin })}
          />
          {typed === instanceId ? null : <FooterHint>Type the whole id first</FooterHint>}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="danger"
            disabled={typed !== instanceId || remove.isPending}
            onClick={() => remove.mutate()}
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
      <Field
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
      {remove.error ? (
        <ErrorPanel className="mt-3.5" title={`Couldn’t delete ${instanceId}`} error={remove.error} />
      ) : null}
    </Dialog>
  );
}
