"use client";
/**
 * A control verb, before it is done: what it does, and the reason that log and audit will keep.
 *
 * Holds: two presses are one call (one idempotency key per dialog and reason).
 */
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog, FooterHint } from "@/components/ui/dialog";
import { Field, Input } from "@/components/ui/field";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel } from "@/components/ui/states";
import { useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { curlOf } from "@/lib/client/curl-of";
import type { ControlResult } from "@/lib/contract/instances";
import { controlWords, type ControlVerb } from "./control-words";

const endpointOf = {
  suspend: "suspendInstance",
  resume: "resumeInstance",
  cancel: "cancelInstance",
  terminate: "terminateInstance",
  redrive: "redriveInstance",
} as const satisfies Record<ControlVerb, string>;

export function ControlDialog({
  instanceId,
  verb,
  onClose,
  onDone,
}: {
  instanceId: string;
  verb: ControlVerb;
  onClose: () => void;
  onDone: (result: ControlResult) => void;
}) {
  const client = useClient();
  const queryClient = useQueryClient();
  const [reason, setReason] = useState("");
  const [key, setKey] = useState(() => crypto.randomUUID());
  const field = useRef<HTMLInputElement>(null);
  const words = controlWords[verb];
  const given = reason.trim();
  const control = useCall({
    mutationFn: () => client[endpointOf[verb]]({ instanceId, reason: given }, { idempotencyKey: key }),
    onSuccess: (result) => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.instances });
      void queryClient.invalidateQueries({ queryKey: queryKeys.instance(instanceId) });
      onDone(result);
    },
  });
  const submit = (): void => {
    if (given !== "" && !control.isPending) control.mutate();
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={
        <>
          {words.label} <span className="font-mono">{instanceId}</span>
        </>
      }
      initialFocus={field}
      testId="control-dialog"
      footer={
        <>
          <CopyCurl
            variant="link"
            className="mr-auto"
            line={() =>
              curlOf(
                endpointOf[verb],
                { instanceId, reason: given },
                { baseUrl: window.location.origin, idempotencyKey: key },
              )
            }
          />
          {given === "" ? <FooterHint>Give a reason first</FooterHint> : null}
          <Button onClick={onClose}>Back</Button>
          <Button
            variant={words.danger ? "danger" : "ink"}
            disabled={given === "" || control.isPending}
            onClick={submit}
            data-testid="control-submit"
          >
            {control.isPending ? words.doing : words.label}
          </Button>
        </>
      }
    >
      <ul className="mb-3.5 list-disc space-y-1 pl-4 text-body text-text-2">
        {words.does.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <Field label="Reason" hint="kept in its log and in the audit">
        {(wiring) => (
          <Input
            {...wiring}
            ref={field}
            value={reason}
            maxLength={1000}
            onChange={(event) => {
              setReason(event.target.value);
              // Another call, not the same one again.
              setKey(crypto.randomUUID());
            }}
            onKeyDown={(event) => {
              if (event.key === "Enter") submit();
            }}
          />
        )}
      </Field>
      {control.error ? (
        <ErrorPanel
          className="mt-3.5"
          title={`Couldn’t ${words.label.toLowerCase()} ${instanceId}`}
          error={control.error}
        />
      ) : null}
    </Dialog>
  );
}
