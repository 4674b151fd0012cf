/**
 * Durations as people write them → milliseconds. Pure text; names in `delays` and CEL are tried by the compiler.
 *
 * Accepts: digits alone (ms), `10ms`, `.5s`, `1.5h`, `1h30m`, `2d`, ISO-8601 durations with fixed-length parts
 * (`PT1H30M`, `P2DT0.5S`, `P1W`). Months and years have no fixed length and are refused.
 */

// Far beyond any real timer, and small enough that `at + delay` stays a safe integer: 100 years.
export const delayMaxMs = 100 * 366 * 86_400_000;

/** Milliseconds (whole, rounded), or null when `text` is not a duration. */
export function parseDelay(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed.length === 0 || trimmed.length > 100) return null;
  const ms = /^\d+$/.test(trimmed) ? Number(trimmed) : (parseUnits(trimmed) ?? parseIso(trimmed));
  return ms === null || !(ms <= delayMaxMs) ? null : Math.round(ms);
}

const msPerUnit: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

function parseUnits(text: string): number | null {
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ms|s|m|h|d))+$/i.test(text)) return null;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+\.?\d*|\.\d+)(ms|s|m|h|d)/gi)) {
    total += Number(amount) * (msPerUnit[(unit ?? "").toLowerCase()] ?? NaN);
  }
  return total;
}

function parseIso(text: string): number | null {
  const number = String.raw`(\d+(?:[.,]\d+)?)`;
  const match = new RegExp(
    `^P(?:${number}W)?(?:${number}D)?(?:T(?:${number}H)?(?:${number}M)?(?:${number}S)?)?$`,
    "i",
  ).exec(text);
  if (match === null || /[PT]$/i.test(text)) return null;
  const [, weeks, days, hours, minutes, seconds] = match;
  const part = (amount: string | undefined, unitMs: number): number =>
    amount === undefined ? 0 : Number(amount.replace(",", ".")) * unitMs;
  return (
    part(weeks, 7 * 86_400_000) +
    part(days, 86_400_000) +
    part(hours, 3_600_000) +
    part(minutes, 60_000) +
    part(seconds, 1000)
  );
}
