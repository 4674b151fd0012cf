/**
 * One CEL text, parsed when it is first reached (a bad text is a run-time error, SCXML: illegal values), evaluated on a
 * Scope. Our mends on the library live in prepare.ts.
 *
 * Holds: evaluation is synchronous, deterministic and bounded (budget.ts); every failure is an EvaluationFailure whose
 *        one-line message says what was found and where.
 */
import type { Environment } from "@marcbachmann/cel-js";
import { AssertionError } from "@/lib/base/assert";
import type { Json } from "@/lib/base/json";
import { refill } from "./budget";
import { evaluating, type Scope } from "./environment";
import { EvaluationFailure } from "./evaluation-failure";
import { prepare, type CelNode, type ReadRecorder } from "./prepare";
import { toJson, type CelValue } from "./view";

type Program = (scope: object) => CelValue;

// An expression longer than this is generated or hostile.
const textMaxChars = 10_000;

export class Expression {
  private program: Program | null = null;
  private recording: Program | null = null;
  private reads: [string, Json][] | null = null;
  private broken: EvaluationFailure | null = null;

  constructor(
    readonly text: string,
    private readonly environment: Environment,
  ) {}

  /** Throws EvaluationFailure. */
  evaluate(scope: Scope): CelValue {
    return this.run((this.program ??= this.parse(null)), scope);
  }

  evaluateJson(scope: Scope): Json {
    const outer = evaluating.scope;
    const value = this.evaluate(scope);
    if (outer === null) refill();
    return toJson(value);
  }

  /** As evaluate, adding the paths read to `reads`, each once: nothing changes its value meanwhile. */
  evaluateRecording(scope: Scope, reads: [string, Json][]): CelValue {
    this.recording ??= this.parse((path, value) => {
      if (this.reads?.some(([read]) => read === path) === false) this.reads.push([path, value]);
    });
    const outer = this.reads;
    this.reads = reads;
    try {
      return this.run(this.recording, scope);
    } finally {
      this.reads = outer;
    }
  }

  /** The syntax error, or null. */
  syntaxError(): EvaluationFailure | null {
    try {
      this.program ??= this.parse(null);
      return null;
    } catch (error) {
      return this.failure(error);
    }
  }

  private parse(record: ReadRecorder | null): Program {
    if (this.broken !== null) throw this.broken;
    try {
      if (this.text.length > textMaxChars) {
        throw new EvaluationFailure("too-long", `an expression may have ${textMaxChars} characters`);
      }
      const parsed = this.environment.parse(this.text);
      prepare(parsed.ast as unknown as CelNode, record);
      return parsed as Program;
    } catch (error) {
      throw (this.broken = this.failure(error));
    }
  }

  private run(program: Program, scope: Scope): CelValue {
    const outer = evaluating.scope;
    // Named guards evaluate inside an evaluation and spend from the same budget.
    if (outer === null) refill();
    evaluating.scope = scope;
    try {
      return program(scope);
    } catch (error) {
      throw this.failure(error);
    } finally {
      evaluating.scope = outer;
    }
  }

  private failure(error: unknown): EvaluationFailure {
    if (error instanceof EvaluationFailure) {
      return error.message.includes("`") && error.message.includes(" in `")
        ? error
        : new EvaluationFailure(error.code, `${error.message}${this.at(null)}`);
    }
    if (error instanceof RangeError)
      return new EvaluationFailure("cost-exceeded", `${error.message}${this.at(null)}`);
    const known = error as { code?: unknown; summary?: unknown; range?: { start: number } };
    if (typeof known.code === "string" && typeof known.summary === "string") {
      const code = known.code.replaceAll("_", "-");
      return new EvaluationFailure(code, `${known.summary}${this.at(known.range?.start ?? null)}`);
    }
    if (error instanceof AssertionError || !(error instanceof Error)) throw error;
    // The library's own slips (a handler given what its signature does not say) are the expression's fault to the author.
    return new EvaluationFailure("evaluation-error", `${error.message}${this.at(null)}`);
  }

  private at(position: number | null): string {
    const text = this.text.length > 200 ? `${this.text.slice(0, 200)}…` : this.text;
    return position === null ? ` in \`${text}\`` : `, at character ${position + 1} in \`${text}\``;
  }
}
