// The URL of a request, which a client of HTTP/1.0 may give as a path alone.
import { getPath } from "hono/utils/url";

/** Stands for the host of a request without a host. */
const UNNAMED = "http://localhost";

/** The URL of a request whose `Host` was checked. */
export function urlOf({ url }: Request): URL {
  return new URL(absolute(url));
}

/** The path of a request, for the router. Never throws, as the router calls it before any check. */
export function pathOf(request: Request): string {
  // Only the URL of the copy is used.
  return getPath(request.url.startsWith("/") ? new Request(absolute(request.url)) : request);
}

function absolute(url: string): string {
  return url.startsWith("/") ? UNNAMED + url : url;
}
