/** An option that may stand several times, each time `KEY=VALUE`; `form` is how the help writes it. */
import { UsageError } from "./usage";

export const readPairs = (name: string, form: string, texts: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw new UsageError(`${name} takes ${form}, not ${text}.`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
