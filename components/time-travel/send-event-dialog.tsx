"use client";
/**
 * Sends an event by hand, guarded by the seq the sender sees.
 *
 * Holds: unless told otherwise the event is applied only if nothing happened since the shown entry; a repeat of the same
 * press never sends twice (idempotency key per what is asked); a refusal says that nothing was sent and what next.
 */
import { useQueryClient } from "@tanstack/react-query";
import { Send } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { Field, Input, TextArea } from "@/components/ui/field";
import { parseJsonText } from "@/lib/formats/parse-json-text";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel } from "@/components/ui/states";
import { formatCount } from "@/components/ui/time";
import { useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { LockstepError } from "@/lib/base/errors";
import { curlOf } from "@/lib/client/curl-of";
import type { ArgsOf } from "@/lib/client/client";
import type { InstanceStatus, SendResult } from "@/lib/contract/instances";
import type { EventTypes } from "./event-types";

const suggestionsMax = 12;
const endedStatuses: ReadonlySet<InstanceStatus> = new Set(["completed", "cancelled", "terminated"]);

export interface SendEventDialogProps {
  instanceId: string;
  /** The entry on screen. */
  shownSeq: number;
  newestSeq: number;
  types: EventTypes;
  status: InstanceStatus;
  onClose: () => void;
  onSent: (result: SendResult) => void;
  onShowNewest: () => void;
}

export function SendEventDialog(props: SendEventDialogProps) {
  const { instanceId, shownSeq, newestSeq, types, status, onClose, onSent, onShowNewest } = props;
  const client = useClient();
  const queryClient = useQueryClient();
  const [type, setType] = useState("");
  const [text, setText] = useState("");
  const [guarded, setGuarded] = useState(true);
  const [expectedSeq] = useState(shownSeq);
  const typeField = useRef<HTMLInputElement>(null);
  const parsed = parseJsonText(text);
  const argsOf = (withSeq: boolean): ArgsOf<"sendEvent"> | null =>
    type.trim() === "" || !parsed.ok
      ? null
      : {
          instanceId,
          type: type.trim(),
          ...(parsed.value === undefined ? {} : { data: parsed.value }),
          ...(withSeq ? { expectedSeq } : {}),
        };
  const args = argsOf(guarded);
  const asked = JSON.stringify(args);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- a key for what is asked: made anew when that changes
  const idempotencyKey = useMemo(() => crypto.randomUUID(), [asked]);
  const send = useCall({
    mutationFn: ({ call, key }: { call: ArgsOf<"sendEvent">; key: string }) =>
      client.sendEvent(call, { idempotencyKey: key }),
    onSuccess: (result) => {
      // The stream says so too; a stream that is down must not hide one's own event.
      void queryClient.invalidateQueries({ queryKey: queryKeys.instance(instanceId) });
      onSent(result);
    },
  });
  const conflict =
    send.error instanceof LockstepError && send.error.code === "sequence-conflict" ? send.error : null;
  const actual = typeof conflict?.details["actual"] === "number" ? conflict.details["actual"] : newestSeq;
  const anyway = argsOf(false);
  const ended = endedStatuses.has(status);
  const why = ended
    ? `It has ended: ${status}`
    : args
      ? null
      : parsed.ok
        ? "Name the event first"
        : "Fix the payload first";

  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title="Send test event"
      description={
        <>
          To <span className="font-mono text-table">{instanceId}</span>, at seq {formatCount(newestSeq)}. A
          real event: it stays in the log.
        </>
      }
      initialFocus={typeField}
      testId="send-event-dialog"
      width={540}
      footer={
        <>
          <CopyCurl
            variant="link"
            className="mr-auto"
            disabled={!args}
            line={() =>
              args ? curlOf("sendEvent", args, { baseUrl: window.location.origin, idempotencyKey }) : ""
            }
          />
          {why ? <span className="text-hint text-text-2">{why}</span> : null}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="ink"
            type="submit"
            form="send-event"
            disabled={why !== null || send.isPending}
            data-testid="send-event-submit"
          >
            <Send size={13} aria-hidden />
            {send.isPending ? "Sending…" : "Send"}
          </Button>
        </>
      }
    >
      <form
        id="send-event"
        className="grid gap-3.5"
        onSubmit={(event) => {
          event.preventDefault();
          if (args && why === null && !send.isPending) send.mutate({ call: args, key: idempotencyKey });
        }}
      >
        <div>
          <Field label="Event">
            {(wiring) => (
              <Input
                {...wiring}
                ref={typeField}
                mono
                value={type}
                maxLength={256}
                list="event-types"
                placeholder={types.handled[0] ?? "event type"}
                onChange={(event) => setType(event.target.value)}
                data-testid="event-type"
              />
            )}
          </Field>
          <datalist id="event-types">
            {[...types.handled, ...types.others].map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          {types.handled.length > 0 && !ended ? (
            <div className="mt-2 flex flex-wrap items-center gap-1.5">
              <span className="text-hint text-text-3">Handled now</span>
              {types.handled.slice(0, suggestionsMax).map((name) => (
                <Button
                  key={name}
                  size="sm"
                  className="font-mono"
                  aria-pressed={name === type.trim()}
                  onClick={() => setType(name)}
                  data-testid="event-suggestion"
                >
                  {name}
                </Button>
              ))}
            </div>
          ) : (
            <p className="mt-2 text-hint text-text-3">
              {ended
                ? `It has ended (${status}) and takes no more events.`
                : "No active state names an event: any will be logged as ignored."}
            </p>
          )}
        </div>
        <Field
          label="Payload"
          hint="JSON, read as event.data in guards"
          error={parsed.ok ? null : parsed.error}
        >
          {(wiring) => (
            <TextArea
              {...wiring}
              mono
              rows={6}
              value={text}
              placeholder="none"
              onChange={(event) => setText(event.target.value)}
              data-testid="event-payload"
            />
          )}
        </Field>
        <label className="flex items-start gap-2 text-body">
          <input
            type="checkbox"
            checked={guarded}
            onChange={(event) => setGuarded(event.target.checked)}
            className="mt-0.5"
            data-testid="expect-seq"
          />
          <span>
            Only if it is still at <span className="font-mono text-table">#{formatCount(expectedSeq)}</span>
            <span className="block text-hint text-text-3">
              Else nothing is sent, and you are told where it is. (expectedSeq {formatCount(expectedSeq)})
            </span>
          </span>
        </label>
        {conflict ? (
          <ErrorPanel
            title={`Couldn’t send ${type.trim()}`}
            actions={
              <>
                <Button
                  size="sm"
                  onClick={() => {
                    onShowNewest();
                    onClose();
                  }}
                >
                  See the{" "}
                  {actual - expectedSeq === 1 ? "new event" : `${formatCount(actual - expectedSeq)} events`}
                </Button>
                <Button
                  size="sm"
                  disabled={!anyway || send.isPending}
                  onClick={() =>
                    anyway ? send.mutate({ call: anyway, key: crypto.randomUUID() }) : undefined
                  }
                  data-testid="send-anyway"
                >
                  Send anyway
                </Button>
              </>
            }
          >
            <span data-testid="sequence-conflict">
              {instanceId} moved on: expected seq {formatCount(expectedSeq)}, it is at {formatCount(actual)}.
              Nothing was sent.
            </span>
          </ErrorPanel>
        ) : send.error ? (
          <ErrorPanel title={`Couldn’t send ${type.trim()}`} error={send.error}>
            {send.error instanceof LockstepError && send.error.code === "outcome-unknown"
              ? "Send again is safe: it carries the same key."
              : null}
          </ErrorPanel>
        ) : null}
      </form>
    </Dialog>
  );
}
