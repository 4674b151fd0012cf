/**
 * Path and method → endpoint, from the contract's table alone: what is not in the table does not exist.
 */
import { LockstepError } from "@/lib/base/errors";
import { endpoints, type EndpointName } from "@/lib/contract/endpoints";

export interface Match {
  name: EndpointName;
  params: Record<string, string>;
}

interface Pattern {
  name: EndpointName;
  method: string;
  segments: string[];
}
const patterns: Pattern[] = Object.entries(endpoints).map(([name, endpoint]) => ({
  name: name as EndpointName,
  method: endpoint.method,
  segments: endpoint.path.split("/").slice(1),
}));

/** `path` is below /api/v1, segments still percent-encoded. Throws `not-found` or `method-not-allowed`. */
export function matchEndpoint(method: string, path: string): Match {
  const segments = path.split("/").filter((segment) => segment !== "");
  const allowed = new Set<string>();
  for (const pattern of patterns) {
    const params = fit(pattern.segments, segments);
    if (!params) continue;
    if (pattern.method === method) return { name: pattern.name, params };
    allowed.add(pattern.method);
  }
  if (allowed.size > 0) {
    const methods = [...allowed].sort();
    throw new LockstepError("method-not-allowed", `${path} takes ${methods.join(", ")}, not ${method}.`, {
      details: { allowed: methods },
    });
  }
  throw new LockstepError("not-found", `There is no ${path} in /api/v1.`);
}

function fit(pattern: string[], segments: string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [i, part] of pattern.entries()) {
    const segment = segments[i] ?? "";
    if (part.startsWith(":")) params[part.slice(1)] = decode(segment);
    else if (part !== segment) return null;
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new LockstepError(
      "bad-request",
      `"${segment.slice(0, 100)}" in the path isn't percent-encoded UTF-8.`,
    );
  }
}
