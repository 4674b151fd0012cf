/**
 * A value against one of this room's schemas; what is wrong is said by its fields.
 */
import type { z } from "zod";
import { LockstepError } from "@/lib/base/errors";

/** What the schema makes of `value`. Throws `bad-request`. `where`: before the names of fields; "": they stand alone. */
export function checkArgs(schema: z.ZodType, value: unknown, where: string): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues
    .flatMap(meant)
    .slice(0, 10)
    .map((issue) => {
      const unknownKeys = issue.code === "unrecognized_keys" ? issue.keys : null;
      const path = [where, ...issue.path.map(String), ...(unknownKeys?.slice(0, 1) ?? [])];
      const field = path.filter((part, at) => at > 0 || part !== "").join(".");
      return { field, message: unknownKeys ? "isn't a field of this call" : issue.message };
    });
  const text = issues.map((issue) => `${issue.field}: ${issue.message}`).join("; ");
  throw new LockstepError("bad-request", `${text}.`, {
    details: { field: issues[0]?.field ?? where, issues },
  });
}

/** Of several shapes none fits: when one of them is what was meant, as its own names tell, what is wrong within it. */
function meant(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const within = issue.errors.find((all) => all.length > 0 && all.every(({ path }) => path.length > 1));
  if (!within) return [issue];
  return within.flatMap((each) => meant({ ...each, path: [...issue.path, ...each.path] }));
}
