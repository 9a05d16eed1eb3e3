// The address that a request asks for, which a client of HTTP/1.0 may give as a path alone.
import { getPath } from "hono/utils/url";

/** Stands for the host that a request does not name. */
const UNNAMED = "http://localhost";

/** The address of a request whose `Host` was checked. */
export function urlOf({ url }: Request): URL {
  return new URL(absolute(url));
}

/** The path of a request, for the router. Never throws, as the router asks before anything is checked. */
export function pathOf(request: Request): string {
  // Only the address of the copy is looked at.
  return getPath(request.url.startsWith("/") ? new Request(absolute(request.url)) : request);
}

function absolute(url: string): string {
  return url.startsWith("/") ? UNNAMED + url : url;
}
