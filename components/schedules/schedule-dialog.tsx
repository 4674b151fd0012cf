"use client";
/**
 * A schedule's rule in a form, new or to be changed, with the times at which it will fire as one types.
 *
 * Holds: what is wrong is told at its field before anything is sent; a change made meanwhile by another is told, and nothing
 *        of it is written over.
 */
import { useQueryClient } from "@tanstack/react-query";
import { CalendarClock } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel } from "@/components/ui/states";
import { useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { useNow } from "@/components/ui/use-now";
import { nextTimes, readCron } from "@/lib/base/cron";
import { LockstepError } from "@/lib/base/errors";
import { curlOf } from "@/lib/client/curl-of";
import type { ScheduleView } from "@/lib/contract/schedules";
import { NextTimes } from "./next-times";
import { emptyForm, formOf, readForm, type FormField, type RuleForm } from "./rule-form";
import { ActionFields, RuleFields } from "./rule-fields";

const timesShown = 5;

/** What the button waits for, the first that is missing. */
const askFor: Partial<Record<FormField, string>> = {
  id: "Give it a name first",
  cron: "Say when it fires first",
  timeZone: "Name a time zone first",
  chartId: "Choose a chart first",
  to: "Say to which instance first",
  type: "Name the event first",
};

export function ScheduleDialog({
  schedule,
  now,
  onClose,
  onSaved,
  onRefused,
}: {
  /** Null: a new one. */
  schedule: ScheduleView | null;
  /** On the database's clock; null before it is known. */
  now: number | null;
  onClose: () => void;
  onSaved: (schedule: ScheduleView) => void;
  onRefused: (error: unknown) => void;
}) {
  const client = useClient();
  const queryClient = useQueryClient();
  const here = useNow();
  // What was shown when it opened: a change by another meanwhile is a conflict, not a surprise in the form.
  const [base, setBase] = useState(schedule);
  const [form, setForm] = useState<RuleForm>(() =>
    schedule ? formOf(schedule) : emptyForm(Intl.DateTimeFormat().resolvedOptions().timeZone),
  );
  const change = (patch: Partial<RuleForm>): void => setForm((before) => ({ ...before, ...patch }));
  const { rule, problems, missing } = readForm(form);
  const update =
    base && rule ? { scheduleId: base.id, baseRevision: base.revision, ...rule, paused: base.paused } : null;
  const create = !base && rule ? { id: form.id.trim(), ...rule } : null;
  const save = useCall({
    mutationFn: async () => {
      if (update) return client.updateSchedule(update);
      if (create) return client.createSchedule(create);
      throw new Error("a form with problems was sent");
    },
    onSuccess: (saved) => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.schedules });
      void queryClient.invalidateQueries({ queryKey: queryKeys.schedule(saved.id) });
      onSaved(saved);
    },
    onError: onRefused,
  });
  const conflict = save.error instanceof LockstepError && save.error.code === "schedule-conflict";
  const wrong = Object.keys(problems).length > 0;
  const why = wrong
    ? "Fix what is marked first"
    : missing[0]
      ? (askFor[missing[0]] ?? "Fill it in first")
      : null;
  const submit = (): void => {
    if (rule && !save.isPending) save.mutate();
  };
  const loadNewest = async (): Promise<void> => {
    if (!base) return;
    const newest = await client.getSchedule({ scheduleId: base.id });
    setBase(newest);
    setForm(formOf(newest));
    save.reset();
  };

  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={
        base ? (
          <>
            Edit <span className="font-mono">{base.id}</span>
          </>
        ) : (
          "New schedule"
        )
      }
      width={760}
      testId="schedule-dialog"
      footer={
        <>
          <CopyCurl
            variant="link"
            className="mr-auto"
            disabled={rule === null}
            line={() => {
              const to = { baseUrl: window.location.origin };
              if (update) return curlOf("updateSchedule", update, to);
              return create ? curlOf("createSchedule", create, to) : "";
            }}
          />
          {why ? <span className="text-hint text-text-2">{why}</span> : null}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="ink"
            type="submit"
            form="schedule-form"
            disabled={rule === null || save.isPending}
            data-testid="schedule-submit"
          >
            {base ? (save.isPending ? "Saving…" : "Save") : save.isPending ? "Creating…" : "Create"}
          </Button>
        </>
      }
    >
      <form
        id="schedule-form"
        className="grid grid-cols-[1fr_268px] gap-5 max-md:grid-cols-1"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div className="grid content-start gap-3.5">
          <RuleFields form={form} problems={problems} change={change} named={base !== null} />
          <ActionFields form={form} problems={problems} change={change} />
        </div>
        <Preview form={form} now={now ?? here} paused={base?.paused ?? false} />
        {save.error ? (
          <ErrorPanel
            className="col-span-full"
            title={
              conflict
                ? `${base?.id ?? ""} was changed meanwhile`
                : `Couldn’t ${base ? "save" : "create"} the schedule`
            }
            error={save.error}
            actions={
              conflict ? (
                <Button size="sm" onClick={() => void loadNewest()}>
                  Load the newest
                </Button>
              ) : null
            }
          />
        ) : null}
      </form>
    </Dialog>
  );
}

/** The next times of what stands in the form; while that can't be read, why. */
function Preview({ form, now, paused }: { form: RuleForm; now: number; paused: boolean }) {
  const cron = form.cron.trim();
  const timeZone = form.timeZone.trim();
  const read = cron === "" ? null : readCron(cron, timeZone);
  const times = read && "next" in read ? nextTimes(read, now, timesShown) : [];
  return (
    <section
      aria-label="Next times"
      aria-live="polite"
      data-testid="schedule-preview"
      className="self-start rounded-box bg-surface-2 px-3.5 py-3"
    >
      <h3 className="mb-2 flex items-center gap-1.5 text-hint font-medium text-text-2">
        <CalendarClock size={13} aria-hidden />
        {paused ? "Would fire, once resumed" : "Will fire"}
      </h3>
      {read === null ? (
        <p className="text-body text-text-2">Write a cron expression: its next five times stand here.</p>
      ) : "problem" in read ? (
        <p className="text-body text-text-2">
          {read.field === "cron"
            ? "Not while the expression can’t be read."
            : "Not in a zone that isn’t known."}
        </p>
      ) : times.length === 0 ? (
        <p className="text-body text-failed">No time of this expression lies ahead: it would never fire.</p>
      ) : (
        <NextTimes times={times} timeZone={timeZone} now={now} stacked />
      )}
    </section>
  );
}
