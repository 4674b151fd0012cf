/**
 * `matches`, in time linear in pattern × text (RE2 by re2js).
 */
import { RE2JS } from "re2js";
import { charge } from "./budget";
import { EvaluationFailure } from "./evaluation-failure";
import { celTypeName, type CelValue } from "./view";

// A pattern is a short text; re2 compiles in time proportional to it and matches in pattern × text.
const patternMaxChars = 500;
const patternsKept = 200;
const patterns = new Map<string, RE2JS>();

export function matches(text: CelValue, pattern: CelValue): boolean {
  if (typeof text !== "string" || typeof pattern !== "string") {
    throw new EvaluationFailure(
      "no-matching-overload",
      `matches() takes a string and a pattern, found ${celTypeName(text)} and ${celTypeName(pattern)}`,
    );
  }
  charge(1 + ((text.length * (1 + pattern.length)) >> 6));
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    if (pattern.length > patternMaxChars) {
      throw new EvaluationFailure("bad-pattern", `a pattern may have ${patternMaxChars} characters`);
    }
    try {
      compiled = RE2JS.compile(pattern);
    } catch (error) {
      throw new EvaluationFailure(
        "bad-pattern",
        `the pattern "${pattern}" is not valid: ${(error as Error).message}`,
      );
    }
    if (patterns.size >= patternsKept) patterns.clear();
    patterns.set(pattern, compiled);
  }
  return compiled.matcher(text).find();
}
