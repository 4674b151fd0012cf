"use client";
/**
 * A list of actions, run in order: each a line, opened for editing by a click; reordered by drag or Alt+arrows.
 */
import { GripVertical, Trash2 } from "lucide-react";
import { useState } from "react";
import { many } from "@/lib/diagram/chart-tree";
import type { Action, Actions } from "@/lib/statechart/document";
import { Button, IconButton } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { parseJsonText } from "@/lib/formats/parse-json-text";
import { Section } from "@/components/ui/section";
import { actionSource, actionWords, readAction } from "./action-text";
import { CodeField } from "./code-field";

const rowType = "application/x-lockstep-action";

export function ActionsField({
  title,
  hint,
  value,
  onChange,
  invalidRows,
}: {
  title: string;
  hint?: string;
  value: Actions | undefined;
  onChange: (actions: Actions | null) => void;
  /** Places with an error. */
  invalidRows: ReadonlySet<number>;
}) {
  const actions = many<Action>(value);
  const [open, setOpen] = useState<number | null>(null);
  const write = (next: Action[]) => {
    const [only, ...others] = next;
    onChange(only === undefined ? null : others.length === 0 && !Array.isArray(value) ? only : next);
  };
  const move = (from: number, to: number) => {
    const next = [...actions];
    const [moved] = next.splice(from, 1);
    if (moved === undefined || to < 0 || to > next.length) return;
    next.splice(to, 0, moved);
    setOpen(null);
    write(next);
  };
  return (
    <Section
      title={title}
      {...(hint === undefined || actions.length < 2 ? {} : { hint })}
      action={
        <Button
          variant="link"
          size="sm"
          onClick={() => setOpen(actions.length)}
          data-testid={`add-action-${title.toLowerCase()}`}
        >
          Add
        </Button>
      }
    >
      {actions.length === 0 && open === null ? <p className="text-hint text-text-3">None</p> : null}
      <ul className="flex flex-col gap-1">
        {actions.map((action, index) => (
          <li
            key={index}
            draggable={open !== index}
            onDragStart={(event) => event.dataTransfer.setData(rowType, String(index))}
            onDragOver={(event) => {
              if (event.dataTransfer.types.includes(rowType)) event.preventDefault();
            }}
            onDrop={(event) => {
              const from = event.dataTransfer.getData(rowType);
              if (from !== "") move(Number(from), index);
            }}
          >
            {open === index ? (
              <ActionEditor
                action={action}
                onCancel={() => setOpen(null)}
                onSave={(next) => {
                  setOpen(null);
                  write(actions.map((item, at) => (at === index ? next : item)));
                }}
                onRemove={() => {
                  setOpen(null);
                  write(actions.filter((_, at) => at !== index));
                }}
              />
            ) : (
              <button
                type="button"
                data-testid="action-row"
                className={cn(
                  "flex h-[26px] w-full items-center gap-2 rounded-control border bg-surface px-2 text-left font-mono text-hint hover:bg-surface-2",
                  invalidRows.has(index) ? "border-failed" : "border-border-2",
                )}
                onClick={() => setOpen(index)}
                onKeyDown={(event) => {
                  if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
                  event.preventDefault();
                  move(index, index + (event.key === "ArrowUp" ? -1 : 1));
                }}
              >
                <GripVertical size={12} aria-hidden className="shrink-0 text-text-3" />
                <ActionLine action={action} />
              </button>
            )}
          </li>
        ))}
        {open === actions.length ? (
          <li>
            <ActionEditor
              action={null}
              onCancel={() => setOpen(null)}
              onSave={(next) => {
                setOpen(null);
                write([...actions, next]);
              }}
              onRemove={() => setOpen(null)}
            />
          </li>
        ) : null}
      </ul>
    </Section>
  );
}

function ActionLine({ action }: { action: Action }) {
  const { word, rest } = actionWords(action);
  return (
    <span className="min-w-0 flex-1 truncate">
      {word === "" ? null : <b className="font-semibold">{word} </b>}
      <span className={word === "" ? "" : "text-text-2"}>{rest}</span>
    </span>
  );
}

function ActionEditor({
  action,
  onSave,
  onCancel,
  onRemove,
}: {
  action: Action | null;
  onSave: (action: Action) => void;
  onCancel: () => void;
  onRemove: () => void;
}) {
  const [text, setText] = useState(() => (action === null ? "" : pretty(actionSource(action))));
  const read = readAction(text);
  const save = () => {
    if ("action" in read) onSave(read.action);
  };
  return (
    <div
      className="flex flex-col gap-1.5"
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          onCancel();
        }
      }}
    >
      <CodeField
        value={text}
        onChange={setText}
        language="cel"
        label="Action"
        lineNumbers={false}
        placeholder="assign zone.eta = null · send PING · a name"
        focusCount={1}
        onSubmit={save}
        testId="action-editor"
      />
      {text.trim() !== "" && "problem" in read ? (
        <p className="text-hint text-failed">{read.problem}</p>
      ) : null}
      <div className="flex items-center gap-1.5">
        <Button size="sm" onClick={save} disabled={"problem" in read} data-testid="action-save">
          Done
        </Button>
        <Button size="sm" variant="ghost" onClick={onCancel}>
          Cancel
        </Button>
        {action === null ? null : (
          <IconButton size="icon-sm" label="Remove this action" className="ml-auto" onClick={onRemove}>
            <Trash2 size={13} aria-hidden />
          </IconButton>
        )}
      </div>
    </div>
  );
}

/** An action's JSON over several lines; a name that only begins like JSON stays as it is. */
function pretty(source: string): string {
  const parsed = source.startsWith("{") ? parseJsonText(source) : null;
  return parsed?.ok ? JSON.stringify(parsed.value, null, 2) : source;
}
