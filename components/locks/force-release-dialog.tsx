"use client";
/**
 * Takes a lock from its holder, gentlest way first, saying what that guarantees and what it doesn't.
 *
 * Holds: compares the fence at the moment it was opened (a moved one is told, nothing is released); checks the lock again
 * each second; a reason is needed, and for a live holder the key typed; focus starts in Reason; Enter never confirms.
 */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { HeartPulse, RefreshCw, ShieldCheck, ShieldX, TimerOff, TriangleAlert } from "lucide-react";
import { useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Chip } from "@/components/ui/chip";
import { cn } from "@/components/ui/class-names";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { Field, Input } from "@/components/ui/field";
import { Kbd } from "@/components/ui/kbd";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel } from "@/components/ui/states";
import { formatCount, formatDuration } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast";
import { useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { useNow } from "@/components/ui/use-now";
import { LockstepError } from "@/lib/base/errors";
import { curlOf } from "@/lib/client/curl-of";
import type { LockView } from "@/lib/contract/locks";
import { useDatabaseNow } from "./use-database-now";
import { coolsFor, isCooling, verdictOf, type Verdict } from "./verdict";

const recheckMs = 1_000;
const reasonMin = 3;
const reasonMax = 1_000;

export function ForceReleaseDialog({
  lockKey,
  opened,
  onClose,
}: {
  lockKey: string;
  /** The lock as it was when the dialog opened. */
  opened: LockView;
  onClose: () => void;
}) {
  const client = useClient();
  const queryClient = useQueryClient();
  const [expected, setExpected] = useState({ fence: opened.fence, holder: opened.holder });
  const [way, setWay] = useState<"lapse" | "force">("force");
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const reasonField = useRef<HTMLInputElement>(null);
  const check = useQuery({
    queryKey: queryKeys.lock(lockKey),
    queryFn: ({ signal }) => client.getLock({ key: lockKey }, { signal }),
    refetchInterval: recheckMs,
    initialData: opened,
  });
  const lock = check.data;
  const now = useDatabaseNow(lock, check.dataUpdatedAt) ?? lock.now;
  const verdict = verdictOf(lock, now);
  const moved = lock.fence !== expected.fence;
  const args = { key: lockKey, expectedFence: expected.fence, reason: reason.trim() };
  const asked = JSON.stringify(args);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- a key for what is asked: made anew when that changes
  const idempotencyKey = useMemo(() => crypto.randomUUID(), [asked]);
  const release = useCall({
    mutationFn: () => client.forceReleaseLock(args, { idempotencyKey }),
    onSuccess: (result) => {
      onClose();
      showToast(
        `${lockKey} is released: fence ${formatCount(result.previousFence)} → ${formatCount(result.fence)}.` +
          (result.nextHolder ? ` ${result.nextHolder} holds it now.` : ""),
      );
    },
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.lock(lockKey) });
      void queryClient.invalidateQueries({ queryKey: queryKeys.locks });
    },
  });
  const refused = release.error instanceof LockstepError && release.error.code === "fence-moved";
  const next = lock.queue[0]?.holder ?? null;
  const left = lock.expiresAt === null ? null : lock.expiresAt - now;
  const holder = expected.holder ?? "The holder";
  const cools = coolsFor(lock, now);
  const coolingWords = formatDuration(Math.floor(cools / 1000) * 1000);
  const why = moved
    ? "The fence moved: look again first"
    : reason.trim().length < reasonMin
      ? "Give a reason first"
      : verdict.holderLive && typed !== lockKey
        ? "Type the whole key first"
        : null;
  const lookAgain = (): void => {
    release.reset();
    setTyped("");
    setExpected({ fence: lock.fence, holder: lock.holder });
    reasonField.current?.focus();
  };

  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={
        <>
          <span>
            Release <span className="font-mono">{lockKey}</span>
          </span>
          <Chip className="font-sans">fence {formatCount(expected.fence)}</Chip>
        </>
      }
      aside={<CheckedAt at={check.dataUpdatedAt} failing={check.isError} />}
      initialFocus={reasonField}
      width={692}
      testId="force-release-dialog"
      footer={
        <>
          <CopyCurl
            variant="link"
            className="mr-auto"
            line={() => curlOf("forceReleaseLock", args, { baseUrl: window.location.origin, idempotencyKey })}
          />
          {way === "force" && why ? (
            <span className="text-body text-text-2" data-testid="why-disabled">
              {why}
            </span>
          ) : null}
          <Button onClick={onClose}>
            Cancel <Kbd>Esc</Kbd>
          </Button>
          {way === "lapse" ? (
            <Button variant="ink" onClick={onClose}>
              Let it lapse
            </Button>
          ) : (
            <Button
              variant="danger"
              disabled={why !== null || release.isPending}
              onClick={() => release.mutate()}
              data-testid="force-release-submit"
            >
              {release.isPending ? "Releasing…" : "Force release"}
            </Button>
          )}
        </>
      }
    >
      <VerdictPanel verdict={verdict} />
      <fieldset className="mt-3.5">
        <legend className="mb-2 text-hint font-medium">
          How <span className="ml-1.5 font-normal text-text-3">gentlest first</span>
        </legend>
        <div className="grid grid-cols-2 gap-2">
          <Way
            name="Let it lapse"
            chosen={way === "lapse"}
            onChoose={() => setWay("lapse")}
            testId="way-lapse"
          >
            {isCooling(lock)
              ? "Does nothing now. It is free for everybody when it has cooled."
              : lock.status === "free"
                ? "Does nothing. It is free already."
                : left === null
                  ? "Its state holds it without a lease: it ends when the state is left."
                  : left <= 0
                    ? `Does nothing now. The lease has run out: whoever asks next gets it${cools > 0 ? `, in ${coolingWords}` : ""}.`
                    : `Does nothing now. Free in ${formatDuration(Math.floor(left / 1000) * 1000)} if the holder stops renewing.`}
          </Way>
          <Way
            name="Force now"
            danger
            chosen={way === "force"}
            onChoose={() => setWay("force")}
            testId="way-force"
          >
            Fence {formatCount(expected.fence)} → {formatCount(expected.fence + 1)} at once
            {isCooling(lock)
              ? ", and the cooling ends"
              : cools > 0
                ? `, then it cools for ${coolingWords}`
                : ""}
            .{" "}
            {next ? (
              <>
                Next: <span className="font-mono text-table">{next}</span>.
              </>
            ) : (
              "Nobody waits."
            )}
          </Way>
        </div>
      </fieldset>
      {way === "force" ? (
        <>
          <div className="mt-3.5 grid grid-cols-2 gap-x-6">
            <Promises
              icon={<ShieldCheck size={14} aria-hidden className="text-active" />}
              title="Guaranteed"
              kept
            >
              <li>
                No write of {holder} under fence {formatCount(expected.fence)} commits after this.
              </li>
              {cools > 0 ? (
                <li data-testid="cools-after">
                  It cools for {coolingWords}: no other session gets it before, also who waits.
                </li>
              ) : null}
              <li>The next holder gets fence {formatCount(expected.fence + 2)} or higher.</li>
              <li>Recorded in the lock’s log with your name and reason.</li>
            </Promises>
            <Promises icon={<ShieldX size={14} aria-hidden className="text-failed" />} title="Not guaranteed">
              <li>
                The process of {holder} doesn’t stop. It learns of this at its next renewal or fenced write.
              </li>
              <li>What {holder} already committed isn’t undone.</li>
              <li>Calls to the outside that carry no fence go on.</li>
            </Promises>
          </div>
          <div className="mt-3.5 grid grid-cols-[5fr_3fr] gap-3.5">
            <Field
              label="Reason"
              hint="required, shown in the log"
              className={verdict.holderLive ? "" : "col-span-2"}
            >
              {(wiring) => (
                <Input
                  {...wiring}
                  ref={reasonField}
                  value={reason}
                  maxLength={reasonMax}
                  onChange={(event) => setReason(event.target.value)}
                  onKeyDown={refuseEnter}
                  placeholder="What you saw, and who confirmed it"
                  data-testid="release-reason"
                />
              )}
            </Field>
            {verdict.holderLive ? (
              <Field
                label={
                  <>
                    Type <span className="font-mono">{lockKey}</span> to confirm
                  </>
                }
              >
                {(wiring) => (
                  <Input
                    {...wiring}
                    mono
                    value={typed}
                    onChange={(event) => setTyped(event.target.value)}
                    onKeyDown={refuseEnter}
                    data-testid="release-key"
                  />
                )}
              </Field>
            ) : null}
          </div>
        </>
      ) : null}
      {moved || refused ? (
        <ErrorPanel
          className="mt-3.5"
          title={`${lockKey} moved on`}
          actions={
            <Button size="sm" onClick={lookAgain} data-testid="look-again">
              Look again
            </Button>
          }
        >
          <span data-testid="fence-moved">
            You looked at fence {formatCount(expected.fence)} of {holder}; it is at fence{" "}
            {formatCount(lock.fence)} now
            {lock.status === "free" || lock.holder === null ? ", free" : `, held by ${lock.holder}`}. Nothing
            was released by you.
          </span>
        </ErrorPanel>
      ) : release.error ? (
        <ErrorPanel className="mt-3.5" title={`Couldn’t release ${lockKey}`} error={release.error} />
      ) : null}
    </Dialog>
  );
}

const refuseEnter = (event: KeyboardEvent): void => {
  if (event.key === "Enter") event.preventDefault();
};

function CheckedAt({ at, failing }: { at: number; failing: boolean }) {
  const age = Math.max(0, useNow() - at);
  const words =
    age < 1_000 ? "checked just now" : `checked ${formatDuration(Math.floor(age / 1000) * 1000)} ago`;
  return (
    <span
      className={cn(
        "flex items-center gap-1.5 text-hint whitespace-nowrap",
        failing ? "text-exited" : "text-text-2",
      )}
      role={failing ? "alert" : undefined}
      suppressHydrationWarning
    >
      <RefreshCw size={12} aria-hidden />
      {failing ? `${words}: no answer since` : words}
    </span>
  );
}

function VerdictPanel({ verdict }: { verdict: Verdict }) {
  const [Icon, frame, ink] = {
    danger: [HeartPulse, "border-failed bg-failed-soft", "text-failed"] as const,
    warning: [TriangleAlert, "border-exited bg-exited-soft", "text-exited"] as const,
    calm: [TimerOff, "border-border-2 bg-surface-2", "text-text-2"] as const,
  }[verdict.tone];
  return (
    <div
      className={cn("flex gap-3 rounded-box border px-3.5 py-2.5", frame)}
      data-testid="verdict"
      data-tone={verdict.tone}
    >
      <Icon size={18} aria-hidden className={cn("mt-0.5 shrink-0", ink)} />
      <div className="min-w-0">
        <p className="text-title leading-[18px] font-semibold">{verdict.title}</p>
        <p className="mt-0.5 text-body break-words text-text-2">{verdict.detail}</p>
      </div>
    </div>
  );
}

function Way({
  name,
  chosen,
  onChoose,
  danger = false,
  testId,
  children,
}: {
  name: string;
  chosen: boolean;
  onChoose: () => void;
  danger?: boolean;
  testId: string;
  children: ReactNode;
}) {
  return (
    <label
      className={cn(
        "flex cursor-pointer gap-2.5 rounded-box border px-2.5 py-2 transition-colors duration-90 focus-within:outline-2 focus-within:outline-offset-1 focus-within:outline-accent",
        chosen ? (danger ? "border-failed" : "border-accent") : "border-border-2 hover:border-line",
      )}
    >
      <input
        type="radio"
        name="way"
        checked={chosen}
        onChange={onChoose}
        data-testid={testId}
        className={cn("mt-0.5 size-3.5 shrink-0 outline-none", danger ? "accent-failed" : "accent-accent")}
      />
      <span className="min-w-0">
        <span className="block text-body font-semibold">{name}</span>
        <span className="block text-hint text-text-2">{children}</span>
      </span>
    </label>
  );
}

function Promises({
  icon,
  title,
  kept = false,
  children,
}: {
  icon: ReactNode;
  title: string;
  kept?: boolean;
  children: ReactNode;
}) {
  return (
    <div>
      <h3 className="mb-1.5 flex items-center gap-1.5 text-hint font-semibold">
        {icon}
        {title}
      </h3>
      <ul
        className={cn(
          "grid gap-1 text-body text-text-2",
          kept ? "[&>li]:before:content-['✓']" : "[&>li]:before:content-['✕']",
          "[&>li]:relative [&>li]:pl-5 [&>li]:before:absolute [&>li]:before:left-0.5 [&>li]:before:text-text-3",
        )}
      >
        {children}
      </ul>
    </div>
  );
}
