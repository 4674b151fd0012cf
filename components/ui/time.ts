/**
 * The one time formatter: absolute, relative and durations, the same words on every page.
 *
 * Holds: a duration has at most two units, largest first (`8 m 12 s`, `31 m`, `2 h 05 m`, `3 d 4 h`); absolute times are
 * in the zone the reader chose, which the page names once.
 */
export type Zone = "utc" | "local";

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** `0.4 s`, `26 s`, `8 m 12 s`, `2 h 05 m`, `3 d 4 h`. Negative counts as 0. */
export function formatDuration(ms: number): string {
  const rest = Math.max(0, ms);
  if (rest < 10 * secondMs) {
    const tenths = Math.floor(rest / 100) / 10;
    return `${Number.isInteger(tenths) ? tenths.toFixed(0) : tenths.toFixed(1)} s`;
  }
  if (rest < minuteMs) return `${Math.floor(rest / secondMs)} s`;
  if (rest < hourMs)
    return `${Math.floor(rest / minuteMs)} m ${pad(Math.floor((rest % minuteMs) / secondMs))} s`;
  if (rest < dayMs) return `${Math.floor(rest / hourMs)} h ${pad(Math.floor((rest % hourMs) / minuteMs))} m`;
  return `${Math.floor(rest / dayMs)} d ${Math.floor((rest % dayMs) / hourMs)} h`;
}

/** One unit: `4 s`, `31 m`, `5 h`, `3 d`. For columns where the order of size is enough. */
export function formatAge(ms: number): string {
  const rest = Math.max(0, ms);
  if (rest < minuteMs) return `${Math.floor(rest / secondMs)} s`;
  if (rest < hourMs) return `${Math.floor(rest / minuteMs)} m`;
  if (rest < dayMs) return `${Math.floor(rest / hourMs)} h`;
  return `${Math.floor(rest / dayMs)} d`;
}

/** `5 m 38 s ago`, `just now` below one second, `in 12 s` for the future. */
export function formatRelative(at: number, now: number): string {
  const age = now - at;
  if (Math.abs(age) < secondMs) return "just now";
  if (age < 0) return `in ${formatDuration(-age)}`;
  return `${formatDuration(age < minuteMs ? Math.floor(age / secondMs) * secondMs : age)} ago`;
}

/** `29 Nov 2026 14:08:57.233` (without the zone's name: the page says it once). */
export function formatAbsolute(at: number, zone: Zone): string {
  const part = parts(at, zone);
  return `${Number(part.day)} ${part.month} ${part.year} ${part.hour}:${part.minute}:${part.second}.${millis(at)}`;
}

/** `14:08:57.233`, or `14:08:57` with `coarse`. */
export function formatClock(at: number, zone: Zone, precision: "ms" | "coarse" = "ms"): string {
  const part = parts(at, zone);
  const clock = `${part.hour}:${part.minute}:${part.second}`;
  return precision === "ms" ? `${clock}.${millis(at)}` : clock;
}

/** `Mon 30 Nov 2026 02:30:00 CET`, in a time zone of its own: what is written for that zone is read in it. */
export function formatInZone(at: number, timeZone: string): string {
  let format = zoned.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", {
      weekday: "short",
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
      timeZone,
      timeZoneName: "short",
    });
    zoned.set(timeZone, format);
  }
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return `${part["weekday"]} ${part["day"]} ${part["month"]} ${part["year"]} ${part["hour"]}:${part["minute"]}:${part["second"]} ${part["timeZoneName"]}`;
}
const zoned = new Map<string, Intl.DateTimeFormat>();

/** `UTC`, or the reader's own zone by name. */
export function zoneName(zone: Zone): string {
  return zone === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `5,031`. */
export const formatCount = (count: number): string => countFormat.format(count);

const countFormat = new Intl.NumberFormat("en");
const pad = (value: number): string => String(value).padStart(2, "0");
const millis = (at: number): string => String(((at % secondMs) + secondMs) % secondMs).padStart(3, "0");

const formats = new Map<Zone, Intl.DateTimeFormat>();
function parts(at: number, zone: Zone): Record<string, string> {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", {
      day: "2-digit",
      month: "short",
      year: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
      ...(zone === "utc" ? { timeZone: "UTC" } : {}),
    });
    formats.set(zone, format);
  }
  return Object.fromEntries(format.formatToParts(at).map((part) => [part.type, part.value]));
}
