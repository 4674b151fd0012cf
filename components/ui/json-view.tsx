"use client";
/**
 * JSON to read: a tree in mono, names in text colour, values by kind, big parts closed.
 *
 * Holds: payloads are hostile text and stay text; at most `childrenMax` children of a part are drawn until more are asked
 * for; a string over `stringMax` characters is cut, its length said.
 */
import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import type { Json } from "@/lib/base/json";
import { cn } from "./class-names";
import { formatCount } from "./time";

const childrenMax = 100;
const stringMax = 400;
const openDepth = 3;
const openChildrenMax = 40;

export function JsonView({ value, marked }: { value: Json; marked?: ReadonlySet<string> }) {
  return (
    <div className="font-mono text-table leading-[19px]" data-testid="json">
      {isContainer(value) && sizeOf(value) > 0 ? (
        <Children value={value} depth={0} path="" marked={marked} />
      ) : (
        <Leaf value={value} />
      )}
    </div>
  );
}

function Children({
  value,
  depth,
  path,
  marked,
}: {
  value: Json[] | Record<string, Json>;
  depth: number;
  path: string;
  marked: ReadonlySet<string> | undefined;
}) {
  const [shown, setShown] = useState(childrenMax);
  const entries: [string, Json][] = Array.isArray(value)
    ? value.slice(0, shown).map((item, index) => [String(index), item])
    : Object.entries(value).slice(0, shown);
  const size = sizeOf(value);
  return (
    <ul>
      {entries.map(([key, item]) => (
        <Entry
          key={key}
          name={key}
          value={item}
          depth={depth}
          path={Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`}
          marked={marked}
        />
      ))}
      {size > entries.length ? (
        <li style={{ paddingLeft: 16 }}>
          <button
            type="button"
            className="rounded-chip font-sans text-hint text-accent hover:underline"
            onClick={() => setShown((count) => count + childrenMax)}
          >
            {formatCount(size - entries.length)} more
          </button>
        </li>
      ) : null}
    </ul>
  );
}

function Entry({
  name,
  value,
  depth,
  path,
  marked,
}: {
  name: string;
  value: Json;
  depth: number;
  path: string;
  marked: ReadonlySet<string> | undefined;
}) {
  const branch = isContainer(value) && sizeOf(value) > 0;
  const [open, setOpen] = useState(branch && depth < openDepth && sizeOf(value) <= openChildrenMax);
  const changed = marked?.has(path) ?? false;
  return (
    <li className="relative" style={{ paddingLeft: depth === 0 ? 16 : 14 }}>
      <div className={cn("-ml-4 flex gap-1 rounded-chip pr-1 pl-4", changed && "bg-active-soft")}>
        {branch ? (
          <button
            type="button"
            aria-expanded={open}
            aria-label={`${open ? "Close" : "Open"} ${path}`}
            onClick={() => setOpen(!open)}
            className="-ml-4 flex size-4 shrink-0 items-center justify-center self-center rounded-chip text-text-3 hover:text-text"
          >
            {open ? <ChevronDown size={12} aria-hidden /> : <ChevronRight size={12} aria-hidden />}
          </button>
        ) : null}
        <span className="shrink-0 text-text-2">{name}:</span>
        {branch ? (
          open ? null : (
            <span className="truncate text-text-3">
              {Array.isArray(value) ? `[${formatCount(value.length)}]` : `{${formatCount(sizeOf(value))}}`}
            </span>
          )
        ) : (
          <Leaf value={value} />
        )}
        {changed ? <span className="ml-auto font-sans text-micro text-active">changed</span> : null}
      </div>
      {branch && open ? <Children value={value} depth={depth + 1} path={path} marked={marked} /> : null}
    </li>
  );
}

export function Leaf({ value }: { value: Json }) {
  if (value === null) return <span className="text-taken">null</span>;
  if (typeof value === "boolean") return <span className="text-taken">{String(value)}</span>;
  if (typeof value === "number") return <span className="text-exited">{String(value)}</span>;
  if (typeof value === "string") {
    const cut = value.length > stringMax;
    return (
      <span className="min-w-0 break-words text-active">
        {JSON.stringify(cut ? value.slice(0, stringMax) : value)}
        {cut ? (
          <span className="font-sans text-hint text-text-3"> {formatCount(value.length)} characters</span>
        ) : null}
      </span>
    );
  }
  return <span className="text-text-3">{Array.isArray(value) ? "[]" : "{}"}</span>;
}

/** A value in one line, cut at `max` characters. */
export function inlineJson(value: Json, max = 120): string {
  const text = JSON.stringify(value);
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

const isContainer = (value: Json): value is Json[] | Record<string, Json> =>
  typeof value === "object" && value !== null;
const sizeOf = (value: Json[] | Record<string, Json>): number =>
  Array.isArray(value) ? value.length : Object.keys(value).length;
