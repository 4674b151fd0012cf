/**
 * A cron expression in a time zone, as times: which ones come after a moment, and which were before it.
 *
 * Holds: `next` is later than what it is given, and `before` gives exactly the times that `next` would have given. Server
 *        and browser read it alike. Clock changes are croner's: a time that the clock skips comes at the first moment after
 *        the gap; one that it shows twice comes once, unless hours or minutes are left open (then at both).
 * Does not: wait for anything.
 */
import { Cron as Croner } from "croner";

export interface Cron {
  /** The first time later than `after`, ms; null: none any more. */
  next(after: number): number | null;
  /** The last `count` times earlier than `before`, newest first. */
  before(before: number, count: number): number[];
}

export interface CronProblem {
  field: "cron" | "timeZone";
  /** A sentence: what is wrong, and what would be right. */
  problem: string;
}

export const cronLengthMax = 256;

export function readCron(expression: string, timeZone: string): Cron | CronProblem {
  if (!isTimeZone(timeZone)) {
    return {
      field: "timeZone",
      problem: `${timeZone === "" ? "The empty text" : timeZone} is no IANA time zone: Europe/Berlin is one, and UTC.`,
    };
  }
  const fields = expression.trim().split(/\s+/).length;
  // Croner would also take a date, a seventh field for years, and expressions of any length.
  if (expression.includes(":") || expression.length > cronLengthMax || fields > 6) {
    return { field: "cron", problem: fiveFields };
  }
  try {
    const croner = new Croner(expression, { timezone: timeZone, paused: true });
    return {
      next: (after) => croner.nextRun(new Date(after))?.getTime() ?? null,
      before: (before, count) => croner.previousRuns(count, new Date(before)).map((time) => time.getTime()),
    };
  } catch (error) {
    return { field: "cron", problem: inWords(error) };
  }
}

/** The next `count` times after `after`; fewer when there are no more. */
export function nextTimes(cron: Cron, after: number, count: number): number[] {
  const times: number[] = [];
  for (let from = after; times.length < count;) {
    const next = cron.next(from);
    if (next === null) break;
    times.push(next);
    from = next;
  }
  return times;
}

const fiveFields =
  "It takes five fields: minute, hour, day, month and weekday, as in 30 2 * * MON-FRI; a sixth before them is for seconds.";

/** Offsets are no zones: they know no summer time. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Croner's own words where they name the field. */
function inWords(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).replace(/^CronPattern: /, "");
  if (text.startsWith("invalid configuration format")) return fiveFields;
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}
