"use client";
/**
 * One filter of a list: closed it says `State all` or `State is waiting ×`; open it asks.
 *
 * Holds: what cannot be asked for is said where it was typed, and the list stays as it is.
 */
import { ChevronDown, Plus, X } from "lucide-react";
import { Popover } from "radix-ui";
import { useState } from "react";
import { Button } from "./button";
import { cn } from "./class-names";
import { Field, Input, Select } from "./field";

export function FilterChip({
  name,
  value,
  onChange,
  options,
  fields,
  pair,
  placeholder,
  check,
  isMore = false,
  testId,
}: {
  name: string;
  value: string | null;
  onChange: (value: string | null) => void;
  /** A closed list to choose from; without it the value is typed. */
  options?: { value: string; label: string }[];
  /** The value is typed, what it is of is chosen: `field:value`. */
  fields?: readonly string[] | undefined;
  /** Both are typed, each in its own field. */
  pair?: Pair | undefined;
  placeholder?: string;
  /** What is wrong with what was typed; null: nothing. */
  check?: ((typed: string) => string | null) | undefined;
  /** Asks for one more beside those that are there. */
  isMore?: boolean;
  testId: string;
}) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const [wrong, setWrong] = useState<string | null>(null);
  const [field, setField] = useState("");
  const [first] = fields ?? [];
  const chosenField = field === "" ? (first ?? "") : field;
  const choose = (next: string | null): void => {
    onChange(next);
    setOpen(false);
  };
  const chosen = options?.find((option) => option.value === value)?.label ?? value;
  const submit = (): void => {
    const text = pair ? pair.write(field.trim(), typed.trim()) : typed.trim();
    const problem = text === "" ? null : (check?.(text) ?? null);
    setWrong(problem);
    if (problem !== null) return;
    choose(text === "" ? null : fields ? `${chosenField}:${text}` : text);
  };
  return (
    <Popover.Root
      open={open}
      onOpenChange={(next) => {
        const [of, text] = fields
          ? splitField(value, fields)
          : pair && value !== null
            ? pair.read(value)
            : ["", value ?? ""];
        setField(of);
        setTyped(text);
        setWrong(null);
        setOpen(next);
      }}
    >
      <span
        className={cn(
          "inline-flex h-7 shrink-0 items-stretch overflow-hidden rounded-control border bg-surface text-body",
          value === null ? "border-border-2" : "border-accent bg-accent-soft",
        )}
      >
        <Popover.Trigger
          data-testid={testId}
          className="flex items-center gap-1.5 px-2 focus-visible:-outline-offset-2"
        >
          {isMore ? <Plus size={12} aria-hidden className="text-text-3" /> : null}
          <span className="text-text-2">{isMore ? `Add ${name.toLowerCase()}…` : name}</span>
          {isMore ? null : (
            <span
              className={cn("max-w-40 truncate font-medium", value === null ? "text-text" : "text-accent")}
              title={chosen ?? undefined}
            >
              {value === null ? "all" : chosen}
            </span>
          )}
          {value === null && !isMore ? <ChevronDown size={12} aria-hidden className="text-text-3" /> : null}
        </Popover.Trigger>
        {value === null ? null : (
          <button
            type="button"
            aria-label={`Remove the filter ${name} ${value}`}
            onClick={() => onChange(null)}
            className="flex w-6 items-center justify-center text-accent hover:bg-surface focus-visible:-outline-offset-2"
          >
            <X size={12} aria-hidden />
          </button>
        )}
      </span>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          className="z-700 w-64 animate-panel-in rounded-box border border-border-2 bg-surface p-1 shadow-2"
        >
          {options ? (
            <ul className="max-h-72 overflow-y-auto">
              {options.map((option) => (
                <li key={option.value}>
                  <button
                    type="button"
                    onClick={() => choose(option.value === value ? null : option.value)}
                    aria-pressed={option.value === value}
                    className="flex h-7 w-full items-center rounded-chip px-2 text-left text-body hover:bg-surface-2 aria-pressed:font-semibold"
                  >
                    {option.label}
                  </button>
                </li>
              ))}
              {options.length === 0 ? <li className="px-2 py-1.5 text-text-3">None yet.</li> : null}
            </ul>
          ) : fields?.length === 0 ? (
            <p className="px-2 py-1.5 text-body text-text-2">
              The chart names no field to find its instances by:{" "}
              <span className="font-mono">settings.index</span>.
            </p>
          ) : (
            <form
              className="flex flex-col gap-2 p-1"
              onSubmit={(event) => {
                event.preventDefault();
                submit();
              }}
            >
              {fields ? (
                <Field label={name}>
                  {(wiring) => (
                    <Select
                      {...wiring}
                      value={chosenField}
                      onChange={(event) => setField(event.target.value)}
                      data-testid={`${testId}-name`}
                    >
                      {fields.map((each) => (
                        <option key={each} value={each}>
                          {each}
                        </option>
                      ))}
                    </Select>
                  )}
                </Field>
              ) : null}
              {pair ? (
                <Field label={pair.first}>
                  {(wiring) => (
                    <Input
                      {...wiring}
                      value={field}
                      mono
                      autoFocus
                      onChange={(event) => setField(event.target.value)}
                      className="h-7"
                      data-testid={`${testId}-name`}
                    />
                  )}
                </Field>
              ) : null}
              <div className="flex items-end gap-1.5">
                <Field label={fields || pair ? "Value" : name} error={wrong} className="flex-1">
                  {(wiring) => (
                    <Input
                      {...wiring}
                      placeholder={placeholder}
                      value={typed}
                      mono
                      autoFocus={!pair}
                      onChange={(event) => setTyped(event.target.value)}
                      className="h-7"
                      data-testid={`${testId}-value`}
                    />
                  )}
                </Field>
                <Button type="submit">Filter</Button>
              </div>
            </form>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** A filter of two texts, and how they stand in one. */
export interface Pair {
  /** What the first of them is called. */
  first: string;
  read: (value: string) => [first: string, second: string];
  write: (first: string, second: string) => string;
}

/** A filter that may be given several times, all of which must hold: a chip for each, and one more to add another. */
export function FilterChips({
  name,
  values,
  onChange,
  fields,
  pair,
  placeholder,
  check,
  testId,
}: {
  name: string;
  values: readonly string[];
  onChange: (values: string[]) => void;
  fields?: readonly string[] | undefined;
  pair?: Pair | undefined;
  placeholder: string;
  check?: ((typed: string) => string | null) | undefined;
  testId: string;
}) {
  return [...values, null].map((value, place) => (
    <FilterChip
      key={value ?? ""}
      name={name}
      isMore={value === null && place > 0}
      value={value}
      onChange={(next) => {
        const others = values.filter((each) => each !== value && each !== next);
        onChange(next === null ? others : [...others, next]);
      }}
      fields={fields}
      pair={pair}
      placeholder={placeholder}
      check={check}
      testId={value === null ? testId : `${testId}-${place}`}
    />
  ));
}

/** `field:value` in two; a field may have colons in its name, the longest that fits is meant. */
function splitField(value: string | null, fields: readonly string[]): [field: string, text: string] {
  if (value === null) return ["", ""];
  const field = fields.filter((each) => value.startsWith(`${each}:`)).sort((a, b) => b.length - a.length)[0];
  return field === undefined ? ["", value] : [field, value.slice(field.length + 1)];
}
