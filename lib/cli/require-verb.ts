/** A command's verb, asked for before what it is to be done to: a word that is none must not be told to bring an id. */
import { UsageError } from "./usage";

export function requireVerb(command: string, verb: string, verbs: readonly string[]): void {
  if (verbs.includes(verb)) return;
  throw new UsageError(`There is no "lockstep ${command} ${verb}". There are: ${verbs.join(", ")}.`);
}
