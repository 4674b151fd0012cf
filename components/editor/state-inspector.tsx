"use client";
/**
 * The selected state: name, kind, where it starts, what it does on the way in and out, what it invokes, where it leads.
 */
import { ArrowRight, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import {
  initialTargets,
  invokesOf,
  many,
  resolveInside,
  type ChartTree,
  type TreeState,
} from "@/lib/diagram/chart-tree";
import { labelText, printLabel } from "@/lib/diagram/label";
import type { StateKind } from "@/lib/editor/state-commands";
import type { Actions, Invoke } from "@/lib/statechart/document";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import { Button, IconButton } from "@/components/ui/button";
import { Field, Input, Select, TextArea } from "@/components/ui/field";
import { parseJsonText } from "@/lib/formats/parse-json-text";
import { Section } from "@/components/ui/section";
import { ActionsField } from "./actions-field";
import { CodeField } from "./code-field";
import { useEditor } from "./editor-store";
import { ProblemBox } from "./problem-box";
import { transitionOf } from "./problem-marks";
import { rowsIn } from "./transition-inspector";

const kinds: { value: StateKind; label: string }[] = [
  { value: "atomic", label: "Atomic" },
  { value: "compound", label: "Compound: one child at a time" },
  { value: "parallel", label: "Parallel: all regions at once" },
  { value: "final", label: "Final" },
  { value: "history", label: "History, shallow" },
  { value: "deep-history", label: "History, deep" },
];

export function StateInspector({
  tree,
  state,
  problems,
}: {
  tree: ChartTree;
  state: TreeState;
  problems: readonly Diagnostic[];
}) {
  const run = useEditor((store) => store.run);
  const reveal = useEditor((store) => store.reveal);
  const set = useEditor((store) => store.set);
  const { node, name, kind } = state;
  const own = problems.filter((problem) => transitionOf(problem) === null);
  const of = (field: string) => own.filter((problem) => (problem.at.field ?? "").split("/")[0] === field);
  const outgoing = tree.transitions.filter((transition) => transition.source === state);
  const shownKind: StateKind =
    kind === "history" ? (node.history === "deep" ? "deep-history" : "history") : kind;
  const inside = state.children.filter((child) => child.kind !== "history");
  const initial = initialTargets(node.initial).map((text) => resolveInside(tree, state, text));
  const setActions = (field: "entry" | "exit", value: Actions | null) =>
    run({ do: "set-state-field", state: name, field, value: value ?? undefined });
  return (
    <>
      <header className="border-b border-border px-3.5 py-3">
        <NameInput key={name} state={state} />
        <p className="mt-1.5 flex items-center gap-1.5 truncate text-hint text-text-3">
          <span className="truncate font-mono">#{name}</span>
          {state.parent?.parent ? <span className="truncate">in {state.parent.key}</span> : null}
          <IconButton
            size="icon-sm"
            label="Delete state"
            className="ml-auto"
            onClick={() => run({ do: "delete", states: [name], transitions: [] })}
          >
            <Trash2 size={13} aria-hidden />
          </IconButton>
        </p>
      </header>
      <Section title="Kind">
        <Select
          aria-label="Kind"
          data-testid="kind-select"
          value={shownKind}
          onChange={(event) => {
            const chosen = kinds.find((item) => item.value === event.target.value);
            if (chosen) run({ do: "set-kind", state: name, kind: chosen.value });
          }}
        >
          {kinds.map((item) => (
            <option key={item.value} value={item.value}>
              {item.label}
            </option>
          ))}
        </Select>
        {kind === "compound" && inside.length > 0 ? (
          <Field label="Starts in" className="mt-2.5">
            {(wiring) => (
              <Select
                {...wiring}
                data-testid="initial-select"
                value={initial.length === 1 ? (initial[0]?.name ?? "?") : "?"}
                onChange={(event) => run({ do: "set-initial", state: event.target.value }, { select: false })}
              >
                {initial.length === 1 && initial[0] ? null : (
                  <option value="?">{initial.length > 1 ? "several states" : "nothing yet"}</option>
                )}
                {initial.length === 1 && initial[0] && !inside.includes(initial[0]) ? (
                  <option value={initial[0].name}>{initial[0].name}</option>
                ) : null}
                {inside.map((child) => (
                  <option key={child.name} value={child.name}>
                    {child.key}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        ) : null}
        {state.parent && state.parent.kind !== "parallel" && kind !== "history" ? (
          <StartHere tree={tree} state={state} />
        ) : null}
        <ProblemBox
          problems={own.filter(
            (problem) =>
              !["entry", "exit", "invoke", "output"].includes((problem.at.field ?? "").split("/")[0] ?? ""),
          )}
        />
      </Section>
      {kind === "history" ? null : (
        <>
          <ActionsField
            key={`${name} entry`}
            title="Entry"
            hint="run in order"
            value={node.entry}
            invalidRows={rowsIn(of("entry"))}
            onChange={(value) => setActions("entry", value)}
          />
          <ProblemBox problems={of("entry")} className="mx-3.5 mb-3" />
          <ActionsField
            key={`${name} exit`}
            title="Exit"
            hint="run in order"
            value={node.exit}
            invalidRows={rowsIn(of("exit"))}
            onChange={(value) => setActions("exit", value)}
          />
          <ProblemBox problems={of("exit")} className="mx-3.5 mb-3" />
          {kind === "final" ? null : (
            <Invocations key={`${name} invoke`} name={name} invoke={node.invoke} problems={of("invoke")} />
          )}
          {kind === "final" ? null : (
            <Section
              title="Transitions"
              hint={outgoing.length === 0 ? undefined : String(outgoing.length)}
              action={
                <Button
                  variant="link"
                  size="sm"
                  data-testid="add-internal-transition"
                  onClick={() => run({ do: "add-transition", source: name, target: null })}
                >
                  Add
                </Button>
              }
            >
              {outgoing.length === 0 ? (
                <p className="text-hint text-text-3">Drag from the border of the state to draw one.</p>
              ) : null}
              <ul className="flex flex-col gap-1">
                {outgoing.map((transition) => (
                  <li key={transition.id}>
                    <button
                      type="button"
                      className="flex h-[26px] w-full items-center gap-2 rounded-control border border-border-2 bg-surface px-2 text-left text-hint hover:bg-surface-2"
                      onClick={() => reveal(transition.id)}
                    >
                      <span className="min-w-0 flex-1 truncate">
                        {printLabel(labelText(transition.when, transition.spec, invokesOf(node)))}
                      </span>
                      {transition.targets.length > 0 ? (
                        <span className="flex shrink-0 items-center gap-1 text-text-3">
                          <ArrowRight size={11} aria-hidden />
                          {transition.targets[0]?.state?.key ?? transition.targets[0]?.text}
                        </span>
                      ) : null}
                    </button>
                  </li>
                ))}
              </ul>
            </Section>
          )}
        </>
      )}
      <Section title="Notes">
        <TextArea
          key={`${name} notes`}
          rows={2}
          aria-label="Notes"
          defaultValue={node.description ?? ""}
          placeholder="What it is for"
          onChange={(event) =>
            run(
              { do: "set-state-field", state: name, field: "description", value: event.target.value },
              { typing: `notes ${name}` },
            )
          }
          onBlur={() => set({})}
        />
      </Section>
    </>
  );
}

function NameInput({ state }: { state: TreeState }) {
  const run = useEditor((store) => store.run);
  const [text, setText] = useState(state.key);
  const commit = () => {
    if (text.trim() === state.key) return;
    if (run({ do: "rename-state", state: state.name, key: text }) === false) setText(state.key);
  };
  return (
    <Input
      aria-label="State name"
      data-testid="state-name"
      className="h-7 text-title font-semibold"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === "Enter") commit();
        if (event.key === "Escape") setText(state.key);
      }}
    />
  );
}

function StartHere({ tree, state }: { tree: ChartTree; state: TreeState }) {
  const run = useEditor((store) => store.run);
  const home = state.parent;
  if (!home) return null;
  const starts = initialTargets(home.node.initial).some((text) => resolveInside(tree, home, text) === state);
  return (
    <label className="mt-2.5 flex items-center gap-2 text-body">
      <input
        type="checkbox"
        checked={starts}
        disabled={starts}
        onChange={() => run({ do: "set-initial", state: state.name })}
      />
      Initial state of {home.key || "the chart"}
    </label>
  );
}

function Invocations({
  name,
  invoke,
  problems,
}: {
  name: string;
  invoke: Invoke | Invoke[] | undefined;
  problems: readonly Diagnostic[];
}) {
  const run = useEditor((store) => store.run);
  const invokes = many<Invoke>(invoke);
  const write = (next: Invoke[]) => run({ do: "set-state-field", state: name, field: "invoke", value: next });
  const change = (index: number, part: Partial<Invoke>) =>
    write(invokes.map((item, at) => (at === index ? without({ ...item, ...part }) : item)));
  return (
    <Section
      title="Invoke"
      action={
        <Button variant="link" size="sm" onClick={() => write([...invokes, { src: "http" }])}>
          Add
        </Button>
      }
    >
      {invokes.length === 0 ? <p className="text-hint text-text-3">None</p> : null}
      {invokes.map((item, index) => (
        <div key={index} className="mb-1.5 rounded-control border border-border-2 p-2 last:mb-0">
          <div className="flex items-center gap-1.5">
            <Input
              mono
              className="h-7"
              aria-label="Source"
              list="invoke-sources"
              defaultValue={typeof item.src === "string" ? item.src : item.src.placeholder}
              onBlur={(event) => {
                const src = event.target.value.trim();
                if (src !== "" && src !== item.src) change(index, { src });
              }}
            />
            <Input
              mono
              className="h-7"
              aria-label="Id"
              placeholder="id"
              defaultValue={item.id ?? ""}
              onBlur={(event) => {
                if (event.target.value !== (item.id ?? "")) change(index, { id: event.target.value.trim() });
              }}
            />
            <IconButton
              size="icon-sm"
              label="Remove this invocation"
              onClick={() => write(invokes.filter((_, at) => at !== index))}
            >
              <Trash2 size={13} aria-hidden />
            </IconButton>
          </div>
          <InputField input={item.input} onChange={(input) => change(index, { input } as Partial<Invoke>)} />
        </div>
      ))}
      <datalist id="invoke-sources">
        {["http", "lock", "chart", "each"].map((src) => (
          <option key={src} value={src} />
        ))}
      </datalist>
      <ProblemBox problems={problems} />
    </Section>
  );
}

/** Empty fields are left out. */
const without = (invoke: Invoke): Invoke =>
  Object.fromEntries(
    Object.entries(invoke).filter(([, value]) => value !== "" && value !== undefined),
  ) as unknown as Invoke;

function InputField({
  input,
  onChange,
}: {
  input: Invoke["input"];
  onChange: (input: Invoke["input"]) => void;
}) {
  const [open, setOpen] = useState(input !== undefined);
  const [text, setText] = useState(input === undefined ? "" : JSON.stringify(input, null, 2));
  const [problem, setProblem] = useState<string | null>(null);
  if (!open) {
    return (
      <Button variant="link" size="sm" onClick={() => setOpen(true)}>
        <Plus size={12} aria-hidden /> Input
      </Button>
    );
  }
  return (
    <div className="mt-1.5">
      <CodeField
        value={text}
        language="json"
        label="Input, strings are CEL"
        lineNumbers={false}
        invalid={problem !== null}
        placeholder={'{"url": "context.url"}'}
        onChange={setText}
        onBlur={() => {
          const parsed = parseJsonText(text);
          setProblem(parsed.ok ? null : parsed.error);
          if (parsed.ok) onChange(parsed.value);
        }}
      />
      {problem === null ? null : <p className="mt-1 text-hint text-failed">{problem}</p>}
    </div>
  );
}
