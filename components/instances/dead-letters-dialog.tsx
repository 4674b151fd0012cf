"use client";
/**
 * An instance's dead letters: what was set aside, why, and a button that sends it again.
 */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { MailX, RotateCcw } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Chip } from "@/components/ui/chip";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { JsonView } from "@/components/ui/json-view";
import { queryKeys } from "@/components/ui/query-keys";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatCount } from "@/components/ui/time";
import { RelativeTime } from "@/components/ui/time-text";
import { firstClick, useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { LockstepError } from "@/lib/base/errors";
import { curlOf } from "@/lib/client/curl-of";
import type { DeadLetter } from "@/lib/contract/instances";

const shownMax = 100;
const reasons: Record<string, string> = {
  "step-failed": "its step failed",
  "instance-ended": "the instance ended before its turn",
  "killed-process": "three workers ended while they stepped it",
  "stale-fence": "the sender’s lock was no longer good",
  "sequence-conflict": "another event came first",
  "lock-busy": "another held the instance’s lock",
};

export function DeadLettersDialog({
  instanceId,
  ended,
  onClose,
}: {
  instanceId: string;
  /** It takes nothing any more: nothing can be sent again. */
  ended: boolean;
  onClose: () => void;
}) {
  const client = useClient();
  const letters = useQuery({
    queryKey: [...queryKeys.instance(instanceId), "dead-letters"],
    queryFn: ({ signal }) => client.listDeadLetters({ instanceId, limit: shownMax }, { signal }),
  });
  const items = letters.data?.items ?? [];
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={
        <>
          Dead letters of <span className="font-mono">{instanceId}</span>
        </>
      }
      width={640}
      testId="dead-letters-dialog"
      footer={
        <>
          <CopyCurl
            variant="link"
            className="mr-auto"
            line={() => curlOf("listDeadLetters", { instanceId }, { baseUrl: window.location.origin })}
          />
          <Button onClick={onClose}>Close</Button>
        </>
      }
    >
      {letters.error ? (
        <ErrorPanel
          title="Couldn’t read the dead letters"
          error={letters.error}
          onRetry={() => void letters.refetch()}
        />
      ) : !letters.data ? (
        <SkeletonRows rows={3} />
      ) : items.length === 0 ? (
        <Empty icon={MailX} title="Nothing was set aside">
          A message lands here when its step failed, or when the instance ended before its turn.
        </Empty>
      ) : (
        <ul className="divide-y divide-border" data-testid="dead-letters">
          {items.map((letter) => (
            <Letter key={letter.messageId} letter={letter} ended={ended} />
          ))}
        </ul>
      )}
      {letters.data?.nextCursor ? (
        <p className="pt-2 text-hint text-text-3">The newest {formatCount(shownMax)} are shown.</p>
      ) : null}
    </Dialog>
  );
}

/** Its sender asked for what can't come true any more: it is not sent again past that. */
const checked: ReadonlySet<string> = new Set(["stale-fence", "sequence-conflict"]);

function Letter({ letter, ended }: { letter: DeadLetter; ended: boolean }) {
  const { instanceId, messageId, type, data, actor, at, reason, retriedAs } = letter;
  const client = useClient();
  const queryClient = useQueryClient();
  const retry = useCall({
    mutationFn: () => client.retryDeadLetter({ instanceId, messageId }),
    // Also when it failed again: then it is a dead letter anew.
    onSettled: () => queryClient.invalidateQueries({ queryKey: queryKeys.instance(instanceId) }),
  });
  return (
    <li className="py-2.5 first:pt-0" data-testid="dead-letter">
      <div className="flex flex-wrap items-center gap-2.5">
        <span className="font-mono text-table font-semibold">{type}</span>
        <span className="text-hint text-text-2">{reasons[reason] ?? reason}</span>
        <span className="text-hint text-text-3">
          from {actor}, <RelativeTime at={at} />
        </span>
        <span className="ml-auto">
          {retriedAs ? (
            <Chip data-testid="retried">sent again</Chip>
          ) : ended || checked.has(reason) ? null : (
            <Button
              size="sm"
              disabled={retry.isPending}
              onClick={firstClick(() => retry.mutate())}
              data-testid="retry-letter"
            >
              <RotateCcw size={12} aria-hidden />
              {retry.isPending ? "Sending…" : "Send again"}
            </Button>
          )}
        </span>
      </div>
      {data === null ? null : (
        <div className="mt-1.5">
          <JsonView value={data} />
        </div>
      )}
      {retry.error ? (
        <ErrorPanel
          className="mt-2"
          title={hasFailedAgain(retry.error) ? "It failed again" : "Couldn’t send it again"}
          error={retry.error}
        />
      ) : null}
    </li>
  );
}

const hasFailedAgain = (error: Error): boolean =>
  error instanceof LockstepError && error.code === "step-failed";
