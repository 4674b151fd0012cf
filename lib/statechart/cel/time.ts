/**
 * Timestamps the same on every host. The library reads a time without a zone, and a zone's fields, through the host's own
 * time zone; a simulator in one country and a server in another must not disagree.
 */
import { EvaluationFailure } from "./evaluation-failure";

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
// 0001-01-01 to 9999-12-31, as CEL.
const earliest = -62135596800000;
const latest = 253402300799999;

/** RFC 3339 text or whole seconds since the epoch. */
export function timestamp(value: string | bigint): Date {
  const ms = typeof value === "bigint" ? Number(value) * 1000 : rfc3339.test(value) ? Date.parse(value) : NaN;
  if (ms >= earliest && ms <= latest) return new Date(ms);
  throw new EvaluationFailure(
    "invalid-timestamp",
    `timestamp() needs a text like 2026-01-31T12:00:00Z, with its zone, or seconds; found ${String(value)}`,
  );
}

/** The fields that CEL reads from a timestamp, by method name; `zone` is an IANA name or an offset like +05:30. */
export function timestampField(name: string, time: Date, zone: string | null): bigint | null {
  const local = zone === null ? time : shifted(time, zone);
  switch (name) {
    case "getFullYear":
      return BigInt(local.getUTCFullYear());
    case "getMonth":
      return BigInt(local.getUTCMonth());
    case "getDate":
      return BigInt(local.getUTCDate());
    case "getDayOfMonth":
      return BigInt(local.getUTCDate() - 1);
    case "getDayOfWeek":
      return BigInt(local.getUTCDay());
    case "getDayOfYear": {
      const days = (local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 1)) / 86_400_000;
      return BigInt(Math.floor(days));
    }
    case "getHours":
      return BigInt(local.getUTCHours());
    case "getMinutes":
      return BigInt(local.getUTCMinutes());
    case "getSeconds":
      return BigInt(local.getUTCSeconds());
    case "getMilliseconds":
      return BigInt(local.getUTCMilliseconds());
    default:
      return null;
  }
}

/** A time whose UTC fields are the local fields of `zone`. */
function shifted(time: Date, zone: string): Date {
  const offset = /^([+-])?(\d\d):(\d\d)$/.exec(zone);
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return new Date(time.getTime() + (offset[1] === "-" ? -minutes : minutes) * 60_000);
  }
  const parts: Record<string, number> = {};
  for (const { type, value } of formatFor(zone).formatToParts(time)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second, time.getUTCMilliseconds()));
}

// A format takes tens of microseconds to make; a chart names one or two zones.
const formatsKept = 50;
const formats = new Map<string, Intl.DateTimeFormat>();

function formatFor(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    try {
      format = new Intl.DateTimeFormat("en-US", {
        timeZone: zone,
        calendar: "gregory",
        numberingSystem: "latn",
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
    } catch {
      throw new EvaluationFailure("bad-time-zone", `there is no time zone "${zone}"`);
    }
    if (formats.size >= formatsKept) formats.clear();
    formats.set(zone, format);
  }
  return format;
}
