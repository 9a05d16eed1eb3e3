// The client of a request: its address, its program, and the page that sent the request.
import { ApiError } from "../jsonapi/errors.ts";

const MAX_USER_AGENT = 256;
const MAX_ADDRESS = 64;

/** Facts about the client of a request; the texts are the client's own, and bounded. */
export interface Client {
  /** An IP address; empty when it is not known. */
  address: string;
  userAgent: string;
  /** Scheme, host and port under which the client knows Pilvi, such as `https://cloud.example`. */
  origin: string;
}

/** The relation of a page that sent a request to Pilvi; `unknown` for programs, which report nothing. */
export type Sender = "own" | "foreign" | "unknown";

/** @param url the URL of the request, whose host was checked. */
export function clientOf(request: Request, url: URL, address: string): Client {
  const origin = request.headers.get("origin");
  return {
    address: address.slice(0, MAX_ADDRESS),
    userAgent: (request.headers.get("user-agent") ?? "").slice(0, MAX_USER_AGENT),
    origin: origin !== null && isOwn(origin, url) ? new URL(origin).origin : url.origin,
  };
}

/** Which page sent the request, as its browser says, which no page can forge. */
export function senderOf({ headers }: Request, url: URL): Sender {
  const origin = headers.get("origin");
  if (origin !== null) return isOwn(origin, url) ? "own" : "foreign";
  const site = headers.get("sec-fetch-site");
  if (site === null) return "unknown";
  return site === "same-origin" ? "own" : "foreign";
}

/** @throws ApiError 403 for a request that a page of another origin sent. */
export function refuseForeign(request: Request, url: URL): void {
  if (senderOf(request, url) === "foreign") throw crossSite();
}

/** @throws ApiError 403 unless a page of Pilvi's own origin sent the request. */
export function requireOwn(request: Request, url: URL): void {
  if (senderOf(request, url) !== "own") throw crossSite();
}

function crossSite(): ApiError {
  return new ApiError(403, "A request with a session must come from a page of this address itself.");
}

/** The scheme may be the one of a proxy in front that speaks HTTPS. */
function isOwn(origin: string, url: URL): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  if (protocol !== "https:" && protocol !== url.protocol) return false;
  const own = new URL(url);
  const port = own.port || (own.protocol === "https:" ? "443" : "80");
  return host === url.host || (protocol === "https:" && host === own.hostname && port === "443");
}
