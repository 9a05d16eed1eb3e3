// The protection of browsers and of programs on this machine: security headers, and the check of the host name.
import { isIP } from "node:net";
import { ApiError } from "../jsonapi/errors.ts";

/** Headers of every answer. */
export const SECURITY_HEADERS: Record<string, string> = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
};

/** For pages: everything comes from this server, so that a page cannot send requests to another host. */
export const PAGE_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/** For the console: no code and no style stands in the page itself, so a text that is taken for markup stays harmless. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  ...["script-src", "style-src", "connect-src", "font-src"].map((kind) => `${kind} 'self'`),
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A name or an IPv4 address, or an IPv6 address in brackets; then perhaps a port (RFC 9110, section 7.2). */
const HOST = /^(?:(?<name>[A-Za-z0-9._-]+)|\[(?<six>[0-9A-Fa-f:.]+)\])(?::(?<port>\d{0,5}))?$/;
const HIGHEST_PORT = 65_535;

/**
 * Refuses a request for a foreign host name: a web page whose name was made to point here could send it.
 * @param host the `Host` header; undefined for a client of HTTP/1.0 that sends none, which no browser is.
 * @param names host names under which the API may be asked, beside IP addresses and `localhost`.
 * @throws ApiError 400, 421
 */
export function checkHost(host: string | undefined, names: readonly string[]): void {
  if (host === undefined) return;
  const { name: text, six, port } = HOST.exec(host)?.groups ?? {};
  if ((text === undefined && (six === undefined || isIP(six) !== 6)) || Number(port ?? 0) > HIGHEST_PORT) {
    throw new ApiError(400, "The Host header is not a host name or IP address, with or without a port.");
  }
  const name = (text ?? six ?? "").replace(/\.$/, "").toLowerCase();
  if (isIP(name) !== 0 || name === "localhost" || names.includes(name)) return;
  throw new ApiError(421, "This host name is not served here. If it should be, set PILVI_PUBLIC_HOST to it.");
}
