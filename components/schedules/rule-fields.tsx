"use client";
/**
 * The fields of a schedule's form: its name and times, and what it does at them.
 */
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "@/components/ui/button";
import { Field, Input, Select, TextArea } from "@/components/ui/field";
import { queryKeys } from "@/components/ui/query-keys";
import { Segmented } from "@/components/ui/segmented";
import { useClient } from "@/components/ui/use-client";
import type { FormField, RuleForm } from "./rule-form";
import { misfireWords } from "./schedule-words";

interface FieldsProps {
  form: RuleForm;
  problems: Partial<Record<FormField, string>>;
  change: (patch: Partial<RuleForm>) => void;
}

/** Expressions that many want; the name says when. */
const examples = [
  ["Each 15 minutes", "*/15 * * * *"],
  ["Daily at 02:30", "30 2 * * *"],
  ["Weekdays at 09:00", "0 9 * * MON-FRI"],
  ["Month’s last day", "0 0 L * *"],
] as const;

export function RuleFields({ form, problems, change, named }: FieldsProps & { named: boolean }) {
  const zones = useId();
  return (
    <>
      {named ? null : (
        <Field label="Name" hint="its id, for good" error={problems.id ?? null}>
          {(wiring) => (
            <Input
              {...wiring}
              mono
              value={form.id}
              maxLength={128}
              placeholder="nightly-count"
              onChange={(event) => change({ id: event.target.value })}
              data-testid="schedule-id"
            />
          )}
        </Field>
      )}
      <div className="grid grid-cols-2 gap-3.5">
        <Field label="Cron" hint="minute hour day month weekday" error={problems.cron ?? null}>
          {(wiring) => (
            <Input
              {...wiring}
              mono
              value={form.cron}
              maxLength={256}
              placeholder="30 2 * * *"
              onChange={(event) => change({ cron: event.target.value })}
              data-testid="schedule-cron"
            />
          )}
        </Field>
        <Field label="Time zone" error={problems.timeZone ?? null}>
          {(wiring) => (
            <>
              <Input
                {...wiring}
                list={zones}
                value={form.timeZone}
                maxLength={64}
                placeholder="Europe/Berlin"
                onChange={(event) => change({ timeZone: event.target.value })}
                data-testid="schedule-zone"
              />
              <datalist id={zones}>
                {["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => (
                  <option key={zone} value={zone} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <div className="col-span-2 -mt-2 flex flex-wrap gap-x-3">
          {examples.map(([name, cron]) => (
            <Button key={cron} variant="link" className="text-hint" onClick={() => change({ cron })}>
              {name}
            </Button>
          ))}
        </div>
        <Field
          label="Missed ticks"
          hint="late by over 30 s"
          className={form.misfire === "all" ? "" : "col-span-2"}
        >
          {(wiring) => (
            <Select
              {...wiring}
              value={form.misfire}
              onChange={(event) => change({ misfire: event.target.value as RuleForm["misfire"] })}
              data-testid="schedule-misfire"
            >
              {(["once", "skip", "all"] as const).map((misfire) => (
                <option key={misfire} value={misfire}>
                  {misfireWords[misfire].name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {form.misfire === "all" ? (
          <Field label="At most" hint="the newest ones" error={problems.misfireMax ?? null}>
            {(wiring) => (
              <Input
                {...wiring}
                inputMode="numeric"
                value={form.misfireMax}
                onChange={(event) => change({ misfireMax: event.target.value })}
              />
            )}
          </Field>
        ) : null}
      </div>
    </>
  );
}

export function ActionFields(props: FieldsProps) {
  const { form, change } = props;
  return (
    <fieldset className="grid gap-3.5 border-t border-border pt-3">
      <legend className="sr-only">What it does</legend>
      <Segmented
        label="What it does"
        value={form.kind}
        onValueChange={(kind) => change({ kind })}
        options={[
          { value: "start", label: "Start an instance" },
          { value: "send", label: "Send an event" },
        ]}
      />
      {form.kind === "start" ? <StartFields {...props} /> : <SendFields {...props} />}
    </fieldset>
  );
}

function StartFields({ form, problems, change }: FieldsProps) {
  const client = useClient();
  const charts = useQuery({ queryKey: queryKeys.charts, queryFn: () => client.listCharts() });
  const known = (charts.data?.items ?? []).map((chart) => chart.id);
  const detail = useQuery({
    queryKey: queryKeys.chart(form.chartId),
    queryFn: () => client.getChart({ chartId: form.chartId }),
    enabled: known.includes(form.chartId),
  });
  const versions = (detail.data?.versions ?? []).map(({ version }) => String(version));
  return (
    <div className="grid grid-cols-2 gap-3.5">
      <Field label="Chart">
        {(wiring) => (
          <Select
            {...wiring}
            value={form.chartId}
            onChange={(event) => change({ chartId: event.target.value, version: "newest" })}
            data-testid="schedule-chart"
          >
            <option value="">Choose a chart</option>
            {[...new Set([...known, ...(form.chartId === "" ? [] : [form.chartId])])].map((chart) => (
              <option key={chart}>{chart}</option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Version">
        {(wiring) => (
          <Select
            {...wiring}
            value={form.version}
            onChange={(event) => change({ version: event.target.value })}
          >
            <option value="newest">the newest at each tick</option>
            {[...new Set([...versions, ...(form.version === "newest" ? [] : [form.version])])].map(
              (version) => (
                <option key={version} value={version}>
                  v{version}
                </option>
              ),
            )}
          </Select>
        )}
      </Field>
      <Field label="Business key" hint="optional">
        {(wiring) => (
          <Input
            {...wiring}
            mono
            value={form.businessKey}
            maxLength={256}
            onChange={(event) => change({ businessKey: event.target.value })}
          />
        )}
      </Field>
      <Field label="Priority">
        {(wiring) => (
          <Select
            {...wiring}
            value={form.priority}
            onChange={(event) => change({ priority: event.target.value })}
          >
            {["0", "1", "2", "3", "4"].map((priority) => (
              <option key={priority} value={priority}>
                {priority === "0" ? "0, normal" : priority === "4" ? "4, highest" : priority}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Input" hint="JSON, optional" error={problems.input ?? null}>
        {(wiring) => (
          <TextArea
            {...wiring}
            mono
            rows={3}
            value={form.input}
            placeholder="{}"
            onChange={(event) => change({ input: event.target.value })}
            data-testid="schedule-input"
          />
        )}
      </Field>
      <Field label="Labels" hint="key=value, one a line" error={problems.labels ?? null}>
        {(wiring) => (
          <TextArea
            {...wiring}
            mono
            rows={3}
            value={form.labels}
            placeholder="site=eu-1"
            onChange={(event) => change({ labels: event.target.value })}
          />
        )}
      </Field>
    </div>
  );
}

function SendFields({ form, problems, change }: FieldsProps) {
  return (
    <div className="grid grid-cols-2 gap-3.5">
      <Field label="To the instance with">
        {(wiring) => (
          <Select
            {...wiring}
            value={form.toKind}
            onChange={(event) => change({ toKind: event.target.value as RuleForm["toKind"] })}
          >
            <option value="instanceId">the id</option>
            <option value="businessKey">the business key</option>
          </Select>
        )}
      </Field>
      <Field label={form.toKind === "instanceId" ? "Id" : "Business key"}>
        {(wiring) => (
          <Input
            {...wiring}
            mono
            value={form.to}
            maxLength={256}
            placeholder={form.toKind === "instanceId" ? "agv-07" : "M-20931"}
            onChange={(event) => change({ to: event.target.value })}
            data-testid="schedule-to"
          />
        )}
      </Field>
      <Field label="Event" className="col-span-2">
        {(wiring) => (
          <Input
            {...wiring}
            mono
            value={form.type}
            maxLength={256}
            placeholder="recheck"
            onChange={(event) => change({ type: event.target.value })}
            data-testid="schedule-event"
          />
        )}
      </Field>
      <Field label="Data" hint="JSON, optional" className="col-span-2" error={problems.data ?? null}>
        {(wiring) => (
          <TextArea
            {...wiring}
            mono
            rows={3}
            value={form.data}
            placeholder="{}"
            onChange={(event) => change({ data: event.target.value })}
          />
        )}
      </Field>
    </div>
  );
}
