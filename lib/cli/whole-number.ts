/** An option that is a number, in decimal digits alone: what looks like one otherwise (1e0, 0x1, "") is a slip. */
import { UsageError } from "./usage";

export function wholeNumber(name: string, text: string | undefined, min = 1): number {
  const number = Number(text);
  if (text !== undefined && /^\d{1,16}$/.test(text) && number >= min && Number.isSafeInteger(number))
    return number;
  throw new UsageError(
    `${name} takes a whole number from ${min} on${text === undefined ? "" : `, not ${text}`}.`,
  );
}

/** Undefined when it was left out. */
export const optionalWholeNumber = (name: string, text: string | undefined, min = 1): number | undefined =>
  text === undefined ? undefined : wholeNumber(name, text, min);
