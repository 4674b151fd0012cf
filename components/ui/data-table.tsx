"use client";
/**
 * A dense list as a table: what it is → how it is → why → how long. Keyboard: J K move, ↵ opens.
 *
 * Holds: one line a row, cut with an ellipsis; no column narrower than can be read: where they don't fit, what is around
 * the table scrolls sideways and the first column stays; the header stays; a click anywhere on a row opens it, and its first cell is
 * a real link, so that the row can be opened in another tab and found by a screen reader.
 */
import Link from "next/link";
import type { Route } from "next";
import { useRouter } from "next/navigation";
import { useEffect, useRef, useState, type CSSProperties, type ReactNode } from "react";
import { cn } from "./class-names";
import { useKeys } from "./use-keys";

export interface Column<T> {
  key: string;
  header: ReactNode;
  /** The columns without one share what is left, `shareMinPx` each at least. */
  width?: `${number}px` | `${number}%`;
  align?: "left" | "right";
  cell: (row: T) => ReactNode;
  /** Dropped on narrow windows. */
  optional?: boolean;
}

/** Enough of a key or a name to tell two apart. */
const shareMinPx = 140;

/** The width at which the columns without a width are down to their least. */
function minWidthPx(columns: readonly { width?: string }[]): number {
  let px = 0;
  let percent = 0;
  for (const { width } of columns) {
    if (width?.endsWith("%")) percent += Number.parseFloat(width);
    else px += width === undefined ? shareMinPx : Number.parseFloat(width);
  }
  return Math.ceil(px / (1 - percent / 100));
}

/** Rows that something is to be done to, chosen by a box before each. */
export interface RowChoice {
  chosen: ReadonlySet<string>;
  /** `range`: all from the one toggled before to this one. */
  onToggle: (key: string, range: boolean) => void;
  onToggleAll: () => void;
}

/** At the left edge of a row that is chosen, or where the keys are. */
const marked = "shadow-[inset_2px_0_0_var(--accent)]";
/** The column of boxes. */
const boxColumnPx = 36;

export function DataTable<T>({
  columns,
  rows,
  rowKey,
  href,
  onOpen,
  onPick,
  selectedKey = null,
  onActive,
  choice,
  caption,
  rowTestId,
  relaxed = false,
}: {
  columns: Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  href: (row: T) => string;
  /** Instead of going to `href`, by link, click or ↵: shows the row beside the list. */
  onOpen?: (row: T) => void;
  /** A click on the row outside of its link, where that is not to open it. */
  onPick?: (row: T) => void;
  selectedKey?: string | null;
  onActive?: (row: T) => void;
  /** X chooses, ⇧X a range. */
  choice?: RowChoice;
  caption: string;
  rowTestId: string;
  relaxed?: boolean;
}) {
  const router = useRouter();
  const [active, setActive] = useState<number | null>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const open = (row: T): void => (onOpen ? onOpen(row) : router.push(href(row)));

  const move = (step: number): void => {
    if (rows.length === 0) return;
    const from = active ?? rows.findIndex((row) => rowKey(row) === selectedKey);
    const next = Math.min(rows.length - 1, Math.max(0, from < 0 ? 0 : from + step));
    setActive(next);
    const row = rows[next];
    if (row !== undefined) onActive?.(row);
  };
  const toggleActive = (range: boolean): void => {
    const row = active === null ? undefined : rows[active];
    if (row !== undefined) choice?.onToggle(rowKey(row), range);
  };
  useKeys({
    ...(choice ? { x: () => toggleActive(false), "shift+x": () => toggleActive(true) } : {}),
    j: () => move(1),
    k: () => move(-1),
    Enter: (event) => {
      // A focused link or button has its own Enter.
      if (event.target instanceof HTMLElement && event.target.closest("a,button")) {
        event.target.click();
        return;
      }
      const row = active === null ? undefined : rows[active];
      if (row !== undefined) open(row);
    },
  });
  useEffect(() => {
    if (active === null) return;
    body.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);

  const boxPx = choice ? boxColumnPx : 0;
  return (
    <table
      style={
        {
          "--columns-min": `${minWidthPx(columns) + boxPx}px`,
          "--columns-min-narrow": `${minWidthPx(columns.filter((column) => !column.optional)) + boxPx}px`,
          "--box": `${boxPx}px`,
        } as CSSProperties
      }
      className="w-full min-w-(--columns-min) table-fixed border-separate border-spacing-0 text-table max-lg:min-w-(--columns-min-narrow)"
    >
      <caption className="sr-only">{caption}</caption>
      <thead>
        <tr>
          {choice ? (
            <th
              scope="col"
              style={{ width: boxColumnPx }}
              className="sticky top-0 left-0 z-20 h-[30px] border-b border-border bg-surface pl-3.5 text-left"
            >
              <RowBox
                label="All rows of this page"
                checked={rows.length > 0 && rows.every((row) => choice.chosen.has(rowKey(row)))}
                onToggle={() => choice.onToggleAll()}
              />
            </th>
          ) : null}
          {columns.map((column, index) => (
            <th
              key={column.key}
              scope="col"
              style={column.width ? { width: column.width } : undefined}
              className={cn(
                "sticky top-0 z-10 h-[30px] truncate border-b border-border bg-surface px-2 text-hint font-normal text-text-2",
                index === 0 && "left-(--box) z-20",
                index === 0 && !choice && "pl-3.5",
                index === columns.length - 1 && "pr-3.5",
                column.align === "right" ? "text-right" : "text-left",
                column.optional && "max-lg:hidden",
              )}
            >
              {column.header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {rows.map((row, index) => {
          const key = rowKey(row);
          const selected = key === selectedKey || (choice?.chosen.has(key) ?? false);
          const isMarked = selected || index === active;
          return (
            <tr
              key={key}
              data-testid={rowTestId}
              data-key={key}
              aria-selected={selected || undefined}
              onClick={(event) => {
                if (event.target instanceof HTMLElement && event.target.closest("a,button,input,label"))
                  return;
                setActive(index);
                (onPick ?? open)(row);
              }}
              className={cn(
                "group cursor-default transition-colors duration-90",
                selected
                  ? "bg-accent-soft"
                  : index === active
                    ? "bg-surface-2"
                    : "bg-surface hover:bg-surface-2",
              )}
            >
              {choice ? (
                <td
                  className={cn(
                    "sticky left-0 z-1 border-b border-border bg-inherit pl-3.5",
                    isMarked && marked,
                  )}
                >
                  <RowBox
                    label={key}
                    checked={choice.chosen.has(key)}
                    onToggle={(range) => choice.onToggle(key, range)}
                  />
                </td>
              ) : null}
              {columns.map((column, cellIndex) => (
                <td
                  key={column.key}
                  className={cn(
                    "truncate border-b border-border px-2",
                    relaxed ? "h-10" : "h-8",
                    cellIndex === 0 && "sticky left-(--box) z-1 bg-inherit",
                    cellIndex === 0 && !choice && "pl-3.5",
                    cellIndex === 0 && !choice && isMarked && marked,
                    cellIndex === columns.length - 1 && "pr-3.5",
                    column.align === "right" && "text-right tabular-nums",
                    column.optional && "max-lg:hidden",
                  )}
                >
                  {cellIndex === 0 ? (
                    <Link
                      href={href(row) as Route}
                      prefetch={false}
                      onClick={(event) => {
                        if (!onOpen || event.metaKey || event.ctrlKey || event.shiftKey) return;
                        event.preventDefault();
                        setActive(index);
                        onOpen(row);
                      }}
                      className="rounded-chip font-mono font-semibold hover:underline"
                    >
                      {column.cell(row)}
                    </Link>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function RowBox({
  label,
  checked,
  onToggle,
}: {
  label: string;
  checked: boolean;
  onToggle: (range: boolean) => void;
}) {
  return (
    // The label makes the target as large as a finger needs.
    <label className="-m-1.5 inline-flex p-1.5 align-middle">
      <input
        type="checkbox"
        aria-label={label}
        checked={checked}
        // The event of the change knows of no ⇧.
        onClick={(event) => onToggle(event.shiftKey)}
        onChange={() => undefined}
        className="size-[15px]"
      />
    </label>
  );
}
