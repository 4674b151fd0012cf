"use client";
/**
 * One task for a person: what is asked, who has it, and the form that answers it.
 *
 * Holds: nothing is sent that the form's rules refuse; the server checks the same again.
 */
import { useQueryClient } from "@tanstack/react-query";
import { Check, Hand } from "lucide-react";
import Link from "next/link";
import type { Route } from "next";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Field, Input, Select, TextArea } from "@/components/ui/field";
import { JsonView } from "@/components/ui/json-view";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel } from "@/components/ui/states";
import { showToast } from "@/components/ui/toast";
import { firstClick, useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { formFields, formProblems, type FormField } from "@/lib/base/answer-form";
import { isJsonObject, type Json } from "@/lib/base/json";
import type { TaskView } from "@/lib/contract/tasks";
import { parseJsonText } from "@/lib/formats/parse-json-text";
import { titleOf } from "./task-title";

export function AnswerPanel({ task }: { task: TaskView }) {
  const client = useClient();
  const queryClient = useQueryClient();
  const { instanceId, taskId } = task;
  const { title: _title, form: schema, ...asked } = isJsonObject(task.input) ? task.input : {};
  const fields = formFields(schema);
  const [texts, setTexts] = useState(() =>
    Object.fromEntries(fields.map((field) => [nameOf(field), textOf(field)])),
  );
  const [tried, setTried] = useState(false);
  const [refusal, setRefusal] = useState("");
  const read = fields.map((field) => ({ field, ...readField(field, texts[nameOf(field)] ?? "") }));
  const output = answerOf(read);
  const problems = new Map<string, string>(
    formProblems(schema, output).map(({ field, message }) => [field ?? "", message]),
  );
  for (const { field, error } of read) if (error !== null) problems.set(nameOf(field), error);
  const reread = () => {
    void queryClient.invalidateQueries({ queryKey: queryKeys.openTasks });
    void queryClient.invalidateQueries({ queryKey: queryKeys.instance(instanceId) });
  };
  const answer = useCall({
    mutationFn: (given: { output: Json } | { refusal: string }) =>
      client.answerTask({ instanceId, taskId, ...given }),
    onSuccess: () => {
      showToast(`${titleOf(task)}: answered.`);
      reread();
    },
  });
  const take = useCall({
    mutationFn: (how: "take" | "take-over" | "give-back") => client.takeTask({ instanceId, taskId, how }),
    onSuccess: reread,
  });
  // Answered: it stays here until the list is read again.
  const isAnswered = answer.isPending || answer.isSuccess;
  const error = answer.error ?? take.error;

  return (
    <section
      aria-label={titleOf(task)}
      className="flex w-[420px] shrink-0 flex-col overflow-y-auto border-l border-border bg-surface max-md:w-full max-md:border-l-0"
      data-testid="answer-panel"
    >
      <div className="border-b border-border px-4 py-3">
        <h2 className="text-body font-semibold break-words">{titleOf(task)}</h2>
        <p className="mt-1 text-hint text-text-3">
          Asked by{" "}
          <Link
            href={`/instances/${encodeURIComponent(instanceId)}` as Route}
            className="text-accent hover:underline"
          >
            <span className="font-mono">{instanceId}</span>
          </Link>
        </p>
        <div className="mt-2 flex items-center gap-2 text-hint">
          <span>{task.worker === null ? "Nobody has taken it." : `Taken by ${task.worker}.`}</span>
          <Button
            size="sm"
            disabled={take.isPending}
            onClick={firstClick(() => take.mutate(task.worker === null ? "take" : "give-back"))}
            data-testid="take-task"
          >
            <Hand size={13} aria-hidden />
            {task.worker === null ? "Take it" : "Give it back"}
          </Button>
          {task.worker === null ? null : (
            <Button size="sm" disabled={take.isPending} onClick={firstClick(() => take.mutate("take-over"))}>
              Take it over
            </Button>
          )}
        </div>
      </div>
      {Object.keys(asked).length === 0 ? null : (
        <div className="border-b border-border px-4 py-3">
          <JsonView value={asked} />
        </div>
      )}
      <form
        className="grid gap-3.5 px-4 py-3"
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (problems.size === 0 && !isAnswered) answer.mutate({ output });
        }}
      >
        {fields.map((field) => (
          <FormControl
            key={nameOf(field)}
            field={field}
            text={texts[nameOf(field)] ?? ""}
            error={tried ? (problems.get(nameOf(field)) ?? null) : null}
            onChange={(text) => setTexts((before) => ({ ...before, [nameOf(field)]: text }))}
          />
        ))}
        <Button variant="ink" type="submit" disabled={isAnswered} data-testid="answer-submit">
          <Check size={13} aria-hidden />
          {answer.isPending ? "Sending…" : "Answer"}
        </Button>
      </form>
      <form
        className="grid gap-2 border-t border-border px-4 py-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (refusal.trim() !== "" && !isAnswered) answer.mutate({ refusal: refusal.trim() });
        }}
      >
        <Field label="It can’t be done" hint="the chart goes on with an error">
          {(wiring) => (
            <Input
              {...wiring}
              value={refusal}
              placeholder="because…"
              onChange={(event) => setRefusal(event.target.value)}
            />
          )}
        </Field>
        <Button variant="danger-outline" type="submit" disabled={refusal.trim() === "" || isAnswered}>
          Refuse
        </Button>
      </form>
      {error ? (
        <div className="px-4 pb-3">
          <ErrorPanel title="Nothing was changed" error={error} />
        </div>
      ) : null}
    </section>
  );
}

function FormControl({
  field,
  text,
  error,
  onChange,
}: {
  field: FormField;
  text: string;
  error: string | null;
  onChange: (text: string) => void;
}) {
  const hint = [field.hint, field.required ? null : "optional"].filter((each) => each !== null).join(", ");
  const testId = `answer-${field.name ?? "whole"}`;
  return (
    <Field label={field.label} hint={hint} error={error}>
      {(wiring) => {
        const shared = { ...wiring, value: text, "data-testid": testId };
        if (field.kind === "boolean" || field.kind === "choice") {
          const choices: Json[] = field.kind === "boolean" ? [true, false] : field.choices;
          return (
            <Select {...shared} onChange={(event) => onChange(event.target.value)}>
              <option value="">–</option>
              {choices.map((choice) => (
                <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
                  {choice === true ? "yes" : choice === false ? "no" : String(choice as string | number)}
                </option>
              ))}
            </Select>
          );
        }
        if (field.kind === "json")
          return (
            <TextArea
              {...shared}
              mono
              rows={4}
              placeholder="JSON"
              onChange={(event) => onChange(event.target.value)}
            />
          );
        return (
          <Input
            {...shared}
            inputMode={field.kind === "text" ? "text" : "decimal"}
            onChange={(event) => onChange(event.target.value)}
          />
        );
      }}
    </Field>
  );
}

const nameOf = ({ name }: FormField): string => name ?? "";

const textOf = ({ kind, initial }: FormField): string =>
  initial === undefined
    ? ""
    : kind === "text" && typeof initial === "string"
      ? initial
      : JSON.stringify(initial);

interface ReadField {
  /** Undefined: left empty. What is no number stays a text, which the rules then refuse. */
  value: Json | undefined;
  error: string | null;
}

function readField({ kind }: FormField, text: string): ReadField {
  const given = (value: Json | undefined): ReadField => ({ value, error: null });
  if (text.trim() === "") return given(undefined);
  if (kind === "text") return given(text);
  if (kind === "json") {
    const parsed = parseJsonText(text);
    return parsed.ok ? given(parsed.value) : { value: undefined, error: parsed.error };
  }
  if (kind === "choice" || kind === "boolean") return given(JSON.parse(text) as Json);
  const number = Number(text);
  return given(Number.isFinite(number) ? number : text);
}

function answerOf(read: readonly { field: FormField; value: Json | undefined }[]): Json {
  const [first] = read;
  if (first?.field.name === null) return first.value ?? null;
  return Object.fromEntries(
    read.flatMap(({ field, value }) => (value === undefined ? [] : [[nameOf(field), value]])),
  );
}
