/** What a task's function threw, in the bounds of what is stored: an error must be told, whatever it says. */
import { storable } from "./storable-text";

const codeMax = 128;
const messageMax = 4_000;

/** `error` for what is no code. */
export const toldCode = (code: unknown): string =>
  typeof code === "string" && code !== "" ? storable(code.slice(0, codeMax)) : "error";

/** Cut, and marked where something can't be stored. */
export const toldMessage = (message: string): string => storable(message.slice(0, messageMax));
