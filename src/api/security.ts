// What protects browsers and the programs on this machine: security headers, and the check of the host name.
import { isIP } from "node:net";
import { ApiError } from "./errors.ts";

/** Headers of every answer. */
export const SECURITY_HEADERS: Record<string, string> = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
};

/** For pages: everything comes from here, so that a page cannot ask any other host. */
export const PAGE_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/**
 * Refuses a request for a host name that is not ours: a web page whose name was made to point here could send it.
 * @param host the `Host` header.
 * @param names host names under which the API may be asked, beside IP addresses and `localhost`.
 * @throws ApiError 421
 */
export function checkHost(host: string, names: readonly string[]): void {
  const name = host
    .replace(/:\d*$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
  if (isIP(name) !== 0 || name === "localhost" || names.includes(name)) return;
  throw new ApiError(421, "This host name is not served here. If it should be, set PILVI_PUBLIC_HOST to it.");
}
