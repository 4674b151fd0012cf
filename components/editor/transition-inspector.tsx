"use client";
/**
 * The selected transition: when it runs, its guard, where it leads, what it does.
 */
import { ArrowDown, ArrowUp, Spline, Trash2 } from "lucide-react";
import { useState } from "react";
import { invokesOf, type TreeTransition, type When } from "@/lib/diagram/chart-tree";
import { guardText, invokeName, whenProblem, whenText } from "@/lib/diagram/label";
import type { Chart, Guard } from "@/lib/statechart/document";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import { IconButton } from "@/components/ui/button";
import { Token } from "@/components/ui/chip";
import { Input, Select, TextArea } from "@/components/ui/field";
import { parseJsonText } from "@/lib/formats/parse-json-text";
import { Section } from "@/components/ui/section";
import { Segmented } from "@/components/ui/segmented";
import { ActionsField } from "./actions-field";
import { CodeField } from "./code-field";
import { useEditor } from "./editor-store";
import { fieldOf } from "./problem-marks";
import { ProblemBox } from "./problem-box";

export function TransitionInspector({
  chart,
  transition,
  stateNames,
  problems,
}: {
  chart: Chart;
  transition: TreeTransition;
  stateNames: readonly { name: string; label: string }[];
  problems: readonly Diagnostic[];
}) {
  const run = useEditor((state) => state.run);
  const focus = useEditor((state) => state.focus);
  const { id, spec, source, when, index, count, targets } = transition;
  const invokes = invokesOf(source.node);
  const patch = (
    change: Extract<Parameters<typeof run>[0], { do: "edit-transition" }>["patch"],
    typing?: string,
  ) =>
    run(
      { do: "edit-transition", transition: id, patch: change },
      typing === undefined ? {} : { typing: `${typing} ${id}` },
    );
  const of = (field: string) => problems.filter((problem) => fieldOf(problem).startsWith(field));
  const target = targets[0];
  const targetName = target?.state?.name;
  return (
    <>
      <header className="border-b border-border px-3.5 py-3">
        <div className="flex items-center gap-2">
          <Spline size={14} aria-hidden className="text-text-3" />
          <h2 className="min-w-0 truncate text-title font-semibold" data-testid="inspector-title">
            {whenText(when, invokes)}
          </h2>
          {count > 1 ? (
            <span className="shrink-0 text-hint text-text-3">
              {index + 1} of {count}
              {index === 0 ? ", tried first" : ""}
            </span>
          ) : null}
          <span className="ml-auto flex shrink-0">
            {count > 1 ? (
              <>
                <IconButton
                  size="icon-sm"
                  label="Try earlier"
                  disabled={index === 0}
                  onClick={() => run({ do: "move-candidate", transition: id, to: index - 1 })}
                >
                  <ArrowUp size={13} aria-hidden />
                </IconButton>
                <IconButton
                  size="icon-sm"
                  label="Try later"
                  disabled={index === count - 1}
                  onClick={() => run({ do: "move-candidate", transition: id, to: index + 1 })}
                >
                  <ArrowDown size={13} aria-hidden />
                </IconButton>
              </>
            ) : null}
            <IconButton
              size="icon-sm"
              label="Delete transition"
              onClick={() => run({ do: "delete", states: [], transitions: [id] })}
            >
              <Trash2 size={13} aria-hidden />
            </IconButton>
          </span>
        </div>
        <p className="mt-1 truncate text-body text-text-2">
          {source.key || "the chart"} →{" "}
          {targets.length === 0 ? "stays" : targets.map((item) => item.state?.key ?? item.text).join(", ")}
        </p>
      </header>
      <WhenSection
        key={`${id} when`}
        transition={transition}
        onChange={(next) => patch({ when: next })}
        problems={of("").filter((problem) => fieldOf(problem) === "")}
      />
      <Section
        title="Guard"
        hint={namedGuard(chart, spec.guard)}
        action={<span className="text-hint text-text-3">CEL → bool</span>}
      >
        <GuardField
          key={`${id} guard`}
          chart={chart}
          guard={spec.guard}
          invalid={of("guard").some((problem) => problem.severity === "error")}
          focusCount={focus.field.startsWith("guard") ? focus.count : 0}
          onChange={(guard) => patch({ guard }, "guard")}
        />
        <ProblemBox problems={of("guard")} />
      </Section>
      <Section title="Target">
        <Select
          aria-label="Target"
          data-testid="target-select"
          value={targetName ?? (target ? `?${target.text}` : "")}
          onChange={(event) => {
            if (!event.target.value.startsWith("?"))
              patch({ target: event.target.value === "" ? null : event.target.value });
          }}
        >
          <option value="">Stays (internal)</option>
          {target && targetName === undefined ? (
            <option value={`?${target.text}`}>{target.text}: no such state</option>
          ) : null}
          {stateNames.map((state) => (
            <option key={state.name} value={state.name}>
              {state.label}
            </option>
          ))}
        </Select>
        {targets.length > 1 ? (
          <p className="mt-1.5 text-hint text-text-3">
            and{" "}
            {targets
              .slice(1)
              .map((item) => item.state?.key ?? item.text)
              .join(", ")}{" "}
            (edit in Code)
          </p>
        ) : null}
        <label className="mt-2 flex items-center gap-2 text-body">
          <input
            type="checkbox"
            checked={spec.reenter === true}
            onChange={(event) => patch({ reenter: event.target.checked })}
          />
          Re-enter {source.key || "the chart"}
        </label>
        <ProblemBox problems={of("target")} />
      </Section>
      <ActionsField
        key={`${id} actions`}
        title="Actions"
        hint="run in order"
        value={spec.actions}
        invalidRows={rowsIn(of("actions"))}
        onChange={(actions) => patch({ actions })}
      />
      <ProblemBox problems={of("actions")} className="mx-3.5 mb-3" />
      <Section title="Notes">
        <TextArea
          key={`${id} notes`}
          rows={2}
          aria-label="Notes"
          defaultValue={spec.description ?? ""}
          placeholder="Why it is there"
          onChange={(event) => patch({ description: event.target.value }, "description")}
        />
      </Section>
    </>
  );
}

export const rowsIn = (problems: readonly Diagnostic[]): ReadonlySet<number> =>
  new Set(
    problems.flatMap((problem) => {
      const place = /actions\/(\d+)|(?:entry|exit)\/(\d+)/.exec(problem.at.field ?? "");
      return place ? [Number(place[1] ?? place[2])] : [];
    }),
  );

/** Says when the guard is a name of `guards`. */
function namedGuard(chart: Chart, guard: Guard | undefined): React.ReactNode {
  const name = typeof guard === "string" ? guard : guard && "type" in guard ? guard.type : null;
  return name !== null && Object.hasOwn(chart.guards ?? {}, name) ? <Token>{name}</Token> : null;
}

type Kind = "event" | "after" | "always" | "done";
const kindOf = (when: When): Kind => (when.kind === "invoke" ? "done" : when.kind);

function WhenSection({
  transition,
  onChange,
  problems,
}: {
  transition: TreeTransition;
  onChange: (when: When) => void;
  problems: readonly Diagnostic[];
}) {
  const { when, source } = transition;
  const invokes = invokesOf(source.node);
  const [text, setText] = useState(
    when.kind === "event" ? when.event : when.kind === "after" ? when.delay : "",
  );
  const kind = kindOf(when);
  const value = text.trim();
  const typed: When | null =
    when.kind === "event"
      ? { kind: "event", event: value }
      : when.kind === "after"
        ? { kind: "after", delay: value }
        : null;
  const refused = typed === null ? null : whenProblem(typed);
  const commit = () => {
    if (value === "" || typed === null || refused !== null) return;
    if (whenText(typed, invokes) !== whenText(when, invokes)) onChange(typed);
  };
  return (
    <Section title="When">
      <div className="mb-2 w-fit rounded-control border border-border-2 p-px">
        <Segmented<Kind>
          label="When it runs"
          value={kind}
          onValueChange={(next) => {
            if (next === kind) return;
            if (next === "event") onChange({ kind: "event", event: "event" });
            else if (next === "after") onChange({ kind: "after", delay: "5s" });
            else if (next === "always") onChange({ kind: "always" });
            else onChange(invokes.length > 0 ? { kind: "invoke", index: 0, on: "onDone" } : { kind: "done" });
          }}
          options={[
            { value: "event", label: "Event" },
            { value: "after", label: "After" },
            { value: "always", label: "Always" },
            { value: "done", label: "Done" },
          ]}
        />
      </div>
      {when.kind === "event" || when.kind === "after" ? (
        <Input
          mono
          aria-label={when.kind === "event" ? "Event" : "Delay"}
          data-testid="when-field"
          aria-invalid={refused !== null}
          value={text}
          placeholder={when.kind === "event" ? "pay, order.*" : "5s, 1h30m"}
          onChange={(event) => setText(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (event.key === "Enter") commit();
          }}
        />
      ) : when.kind === "always" ? (
        <p className="text-hint text-text-3">As soon as its guard holds, without an event.</p>
      ) : (
        <Select
          aria-label="What is done"
          value={when.kind === "done" ? "done" : `${when.index} ${when.on}`}
          onChange={(event) => {
            const [index, on] = event.target.value.split(" ");
            if (index === "done") onChange({ kind: "done" });
            else if (on === "onDone" || on === "onError" || on === "onEvent")
              onChange({ kind: "invoke", index: Number(index), on });
          }}
        >
          <option value="done">{source.key || "the chart"} is done (its final state)</option>
          {invokes.map((_, index) => {
            const name = invokeName(invokes, index);
            return [
              <option key={`${index} done`} value={`${index} onDone`}>{`${name} is done`}</option>,
              <option key={`${index} error`} value={`${index} onError`}>{`${name} failed`}</option>,
              <option key={`${index} event`} value={`${index} onEvent`}>{`${name} sent an event`}</option>,
            ];
          })}
        </Select>
      )}
      {refused === null ? null : (
        <p role="alert" className="mt-1 text-hint text-failed">
          {refused}
        </p>
      )}
      <ProblemBox problems={problems} />
    </Section>
  );
}

/** A text guard is edited as CEL; a structured one as JSON. */
function GuardField({
  guard,
  chart,
  invalid,
  focusCount,
  onChange,
}: {
  guard: Guard | undefined;
  chart: Chart;
  invalid: boolean;
  focusCount: number;
  onChange: (guard: Guard | null) => void;
}) {
  const structured = guard !== undefined && typeof guard !== "string";
  const [json, setJson] = useState(structured ? JSON.stringify(guard, null, 2) : "");
  const [problem, setProblem] = useState<string | null>(null);
  if (structured) {
    return (
      <>
        <CodeField
          value={json}
          language="json"
          label="Guard as JSON"
          lineNumbers={false}
          invalid={invalid || problem !== null}
          focusCount={focusCount}
          testId="guard-field"
          onChange={(text) => {
            setJson(text);
            const parsed = parseJsonText(text);
            setProblem(parsed.ok ? null : parsed.error);
            if (parsed.ok) onChange((parsed.value ?? null) as Guard | null);
          }}
        />
        <p className="mt-1 text-hint text-text-3">{problem ?? guardText(guard)}</p>
      </>
    );
  }
  const names = Object.keys(chart.guards ?? {});
  return (
    <CodeField
      value={guard ?? ""}
      language="cel"
      label="Guard"
      invalid={invalid}
      focusCount={focusCount}
      placeholder={names.length > 0 ? `always, or ${names[0]}` : "always"}
      testId="guard-field"
      onChange={(text) => onChange(text.trim() === "" ? null : text)}
    />
  );
}
