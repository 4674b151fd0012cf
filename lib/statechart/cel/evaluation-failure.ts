/**
 * An expression that could not be evaluated: becomes `error.execution` in the chart, never a crash.
 */
export class EvaluationFailure extends Error {
  override name = "EvaluationFailure";
  /** Of the send that failed, SCXML's _event.sendid of the error event. */
  sendid?: string;
  constructor(
    /** Stable kebab-case name, e.g. `no-such-key`. */
    readonly code: string,
    /** What was found and where, in one line. */
    message: string,
  ) {
    super(message);
  }
}
