/**
 * A chosen or dropped file as text, or why it is none.
 *
 * Holds: bytes that are no text are named by place, never replaced silently; a file without content says so.
 */
import { decodeText } from "@/lib/formats/decode-text";
import { refuse, type ImportResult } from "@/lib/formats/import-result";

export type ReadFile = { ok: true; text: string } | { ok: false; refusal: ImportResult };

export async function readChartFile(file: Blob): Promise<ReadFile> {
  const decoded = decodeText(new Uint8Array(await file.arrayBuffer()));
  if (!decoded.ok) {
    const message = `${decoded.message.charAt(0).toUpperCase()}${decoded.message.slice(1)}.`;
    return { ok: false, refusal: refuse("lockstep", "not-text", message, decoded.at) };
  }
  if (decoded.text.trim() === "")
    return { ok: false, refusal: refuse("lockstep", "empty-file", "The file is empty.") };
  return { ok: true, text: decoded.text };
}
