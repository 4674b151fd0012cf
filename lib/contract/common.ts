/**
 * Pieces that several endpoints share: names, bounds, pages, errors.
 */
import { z } from "zod";
import type { ErrorCode } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import { readLabelFilter } from "@/lib/base/label-filter";
import { keyCharsMax, labelKeyMax, labelsMax, labelValueMax } from "@/lib/base/limits";
import { isStorable } from "@/lib/base/storable-text";

/** Largest chart document with layout in one request. */
export const chartBytesMax = 10 * 1024 * 1024;

export const json: z.ZodType<Json> = z.json();

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._:@-]*$/;
/** Chart, instance and session ids. */
export const id = z
  .string()
  .min(1)
  .max(128)
  .regex(idPattern, "use letters, digits and . _ : @ -, starting with a letter or digit");
/** The database counts to here. */
export const versionMax = 2_147_483_647;
export const versionNumber = z.int().min(1).max(versionMax);
/** Lock keys: as ids, also with / inside. */
export const lockKey = z
  .string()
  .min(1)
  .max(256)
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:@/-]*$/,
    "use letters, digits and . _ : @ / -, starting with a letter or digit",
  );
/** What is looked for in columns: no row can have a text that none of them takes, and SQLite would end it there. */
export const searchText = (max: number) =>
  z
    .string()
    .max(max)
    .refine(isStorable, "holds a character that no stored text has (U+0000 or half a surrogate pair)");
export const labels = z
  .record(z.string().min(1).max(labelKeyMax), z.string().max(labelValueMax))
  .refine((all) => Object.keys(all).length <= labelsMax, `at most ${labelsMax} labels`);
/** What lists are searched by: `key:value`; the key ends at the first colon, one within it is written `\:`. */
export const labelFilter = searchText(2 * labelKeyMax + 1 + labelValueMax).refine(
  (text) => readLabelFilter(text) !== null,
  String.raw`must be key:value, as site:north; a colon in the key is written \:`,
);
/** A field of a context and its value, as text: `order.total:40`. */
export const fieldFilter = searchText(600).regex(/^.+:/s, "must be field:value, as order.total:40");
export const businessKey = z.string().min(1).max(keyCharsMax);
export const eventType = z.string().min(1).max(256);
/** Milliseconds since the epoch on the database's clock. */
export const timestamp = z.int();
export const seq = z.int().min(0);
export const idempotencyKey = z.string().min(1).max(256);

/** Paths and query strings carry text: decimal digits only, else an error that names the field. */
export const textInt = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, "must be a whole number, in decimal digits alone")
    .transform(Number)
    .pipe(z.int().min(min).max(max));

/** One of several shapes without a name of their own in common; `wanted` says which, in the caller's words. */
export const oneOf = <const Options extends readonly [z.ZodType, z.ZodType, ...z.ZodType[]]>(
  wanted: string,
  options: Options,
) => z.union(options, { error: wanted });
/** One of several shapes that `name` tells apart. */
export const namedBy = <
  const Name extends string,
  const Options extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]],
>(
  name: Name,
  values: readonly string[],
  options: Options,
) => z.discriminatedUnion(name, options, { error: `must be ${values.join(" or ")}` });

export const pageQuery = {
  cursor: searchText(512).optional(),
  limit: textInt(1, 200).optional(),
};
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });

export const errorBody = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    retry: z.enum(["never", "later"]),
    details: z.record(z.string(), json),
  }),
});
export type ErrorBody = z.infer<typeof errorBody>;

/** A code without a status does not compile. */
export const statusOf = {
  "bad-request": 400,
  unauthenticated: 401,
  forbidden: 403,
  "foreign-origin": 403,
  "not-found": 404,
  "method-not-allowed": 405,
  "unsupported-media-type": 415,
  "payload-too-large": 413,
  "chart-invalid": 422,
  "chart-exists": 409,
  "draft-conflict": 409,
  "version-not-found": 404,
  "instance-exists": 409,
  "instance-ended": 409,
  "wrong-status": 409,
  "migration-refused": 409,
  "sequence-conflict": 409,
  "idempotency-key-reuse": 409,
  "step-failed": 422,
  "instance-session": 423,
  "instance-busy": 503,
  "lock-busy": 409,
  "lock-lost": 409,
  "lock-deadlock": 409,
  "lease-lost": 409,
  "worker-exists": 409,
  "schedule-exists": 409,
  "schedule-conflict": 409,
  "ambiguous-key": 409,
  "fence-moved": 409,
  "stale-fence": 409,
  "outcome-unknown": 503,
  "database-busy": 503,
  "database-unavailable": 503,
  "database-full": 507,
  "semantics-unsupported": 409,
  "shutting-down": 503,
  "server-unreachable": 503,
  internal: 500,
} as const satisfies Record<ErrorCode, number>;
