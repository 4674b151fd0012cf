"use client";
/**
 * Nothing selected: the chart itself. Context, named guards, actions and delays as JSON.
 */
import { useState } from "react";
import { isJsonObject } from "@/lib/base/json";
import type { ChartTree } from "@/lib/diagram/chart-tree";
import type { ChartField } from "@/lib/editor/field-commands";
import type { Chart } from "@/lib/statechart/document";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import { parseJsonText } from "@/lib/formats/parse-json-text";
import { Fact, Section } from "@/components/ui/section";
import { CodeField } from "./code-field";
import { useEditor } from "./editor-store";
import { ProblemBox } from "./problem-box";

const fields: { field: ChartField; title: string; hint: string; placeholder: string }[] = [
  { field: "context", title: "Context", hint: "its data at the start", placeholder: '{"total": 0}' },
  { field: "guards", title: "Guards", hint: "named, CEL", placeholder: '{"paid": "context.total > 0"}' },
  {
    field: "actions",
    title: "Actions",
    hint: "named",
    placeholder: '{"count": {"assign": {"n": "context.n + 1"}}}',
  },
  { field: "delays", title: "Delays", hint: "named", placeholder: '{"grace": "30s"}' },
  { field: "settings", title: "Settings", hint: "", placeholder: '{"errors": "stop"}' },
];

export function ChartInspector({
  chart,
  tree,
  problems,
}: {
  chart: Chart;
  tree: ChartTree;
  problems: readonly Diagnostic[];
}) {
  const chartId = useEditor((state) => state.chartId);
  const of = (field: string) =>
    problems.filter((problem) => (problem.at.field ?? "").split("/")[0] === field);
  const named = new Set<string>(fields.map((item) => item.field));
  return (
    <>
      <header className="border-b border-border px-3.5 py-3">
        <h2 className="truncate text-title font-semibold" data-testid="inspector-title">
          {chartId}
        </h2>
        <dl className="mt-2 grid grid-cols-2 gap-2">
          <Fact name="States">{tree.states.length - 1}</Fact>
          <Fact name="Transitions">{tree.transitions.length}</Fact>
        </dl>
        <ProblemBox
          problems={problems.filter(
            (problem) =>
              problem.at.state === tree.root.name && !named.has((problem.at.field ?? "").split("/")[0] ?? ""),
          )}
        />
      </header>
      {fields.map(({ field, title, hint, placeholder }) => (
        <Section key={field} title={title} hint={hint}>
          <JsonField
            field={field}
            title={title}
            value={chart[field]}
            placeholder={placeholder}
            invalid={of(field).some((problem) => problem.severity === "error")}
          />
          <ProblemBox problems={of(field)} />
        </Section>
      ))}
    </>
  );
}

function JsonField({
  field,
  title,
  value,
  placeholder,
  invalid,
}: {
  field: ChartField;
  title: string;
  value: unknown;
  placeholder: string;
  invalid: boolean;
}) {
  const run = useEditor((state) => state.run);
  const shown = value === undefined ? "" : JSON.stringify(value, null, 2);
  const [edited, setEdited] = useState<{ from: string; text: string } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  // A change from elsewhere (undo, code) replaces what is typed here.
  const text = edited && (edited.from === shown || sameJson(edited.text, shown)) ? edited.text : shown;
  return (
    <>
      <CodeField
        value={text}
        language="json"
        label={title}
        lineNumbers={false}
        placeholder={placeholder}
        invalid={invalid || problem !== null}
        testId={`chart-${field}`}
        onChange={(next) => {
          setEdited({ from: shown, text: next });
          const parsed = parseJsonText(next);
          if (!parsed.ok) return setProblem(parsed.error);
          if (parsed.value !== undefined && !isJsonObject(parsed.value))
            return setProblem(`${title} is an object: {"name": value}.`);
          setProblem(null);
          if (JSON.stringify(parsed.value) !== JSON.stringify(value)) {
            run({ do: "set-chart-field", field, value: parsed.value }, { typing: `chart ${field}` });
          }
        }}
      />
      {problem === null ? null : <p className="mt-1.5 text-hint text-failed">{problem}</p>}
    </>
  );
}

function sameJson(a: string, b: string): boolean {
  const [left, right] = [parseJsonText(a), parseJsonText(b)];
  return left.ok && right.ok && JSON.stringify(left.value) === JSON.stringify(right.value);
}
