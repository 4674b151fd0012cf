/**
 * The archive of instances that are purged: one JSON object a line, each naming its `kind`. An instance's lines stand
 * together, `instance` first, then `label`, `entry`, `snapshot`, `task`, `dead-letter`, `child`; `end` closes them with their number
 * and the SHA-256 of their bytes; `eof` closes the file. `version` lines (a chart's text) belong to all that follow.
 */
import type { JsonObject } from "./json";
import { sha256Hex } from "./canonical";

export const archiveFormat = "lockstep-archive/1";

export interface ArchiveHead extends JsonObject {
  kind: "archive";
  format: typeof archiveFormat;
  /** Status in which its instances ended. */
  rule: string;
  at: number;
}
/** Of the lines of one instance, without their line ends. */
export const linesDigest = (lines: readonly string[]): string => sha256Hex(lines.join("\n"));
