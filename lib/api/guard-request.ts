/**
 * The checks that every request passes before anything looks at what it wants.
 *
 * Holds: only a loopback `Host` is served (a page that rebinds its name to 127.0.0.1 is refused); a request that names an
 * `Origin` must name ours; a browser that says the request comes from another site is refused; a body must be JSON, so
 * that no plain form of another page can write.
 */
import { LockstepError } from "@/lib/base/errors";
import { isLoopbackHost } from "@/lib/base/loopback";

export function guardRequest(request: Request): void {
  const host = request.headers.get("host") ?? "";
  if (!isLoopbackHost(host)) {
    throw new LockstepError(
      "foreign-origin",
      `Host "${clip(host)}" isn't this machine. Open the console at 127.0.0.1 or localhost.`,
      { details: { host: clip(host) } },
    );
  }
  const origin = request.headers.get("origin");
  if (origin !== null && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    throw new LockstepError(
      "foreign-origin",
      `Origin "${clip(origin)}" isn't this console's (http://${host}). Nothing was done.`,
      { details: { origin: clip(origin) } },
    );
  }
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") {
    throw new LockstepError(
      "foreign-origin",
      "The request was made by another site's page. Nothing was done.",
      {
        details: { site: clip(site) },
      },
    );
  }
}

const clip = (text: string): string => text.slice(0, 200);
