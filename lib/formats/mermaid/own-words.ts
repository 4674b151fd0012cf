/**
 * Words that our Mermaid out and in share.
 */

/** The id of the state that stands for the machine, where it has more to say than its states. */
export const machineId = "_machine";

/** How a line of a note starts that tells what Mermaid cannot draw. */
export const noteMark = "(not drawn) ";
