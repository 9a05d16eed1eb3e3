// Splits a request's URL by hand, since each published event passes here.
import { HttpError } from "./answer.ts";
import { unescapedPath } from "./query.ts";

type Endpoint = "events" | "batch_events" | "channels" | "channel" | "users" | "terminate_connections";

export interface Route {
  appId: string;
  endpoint: Endpoint;
  /** The channel or the user that the path names; empty when it names neither. */
  name: string;
}

const METHODS: Record<Endpoint, "GET" | "POST"> = {
  events: "POST",
  batch_events: "POST",
  channels: "GET",
  channel: "GET",
  users: "GET",
  terminate_connections: "POST",
};

const APPS = "/apps/";

/** Splits a URL, absolute or not, into its path and its query without the question mark. */
export function splitUrl(url: string): { path: string; query: string } {
  const pathStart = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  if (pathStart === -1) return { path: "/", query: "" };
  const queryStart = url.indexOf("?", pathStart);
  if (queryStart === -1) return { path: url.slice(pathStart), query: "" };
  return { path: url.slice(pathStart, queryStart), query: url.slice(queryStart + 1) };
}

/**
 * Finds the endpoint of a request.
 * @throws HttpError 404 for an unknown path, 405 for a wrong method, 400 for a malformed escape.
 */
export function routeOf(method: string, path: string): Route {
  const route = path.startsWith(APPS) ? routeInApplication(path) : null;
  if (route === null) throw new HttpError(404, "404 NOT FOUND");
  const wanted = METHODS[route.endpoint];
  if (method === wanted) return route;
  throw new HttpError(405, `This path answers ${wanted} requests only`, `${wanted}, OPTIONS`);
}

function routeInApplication(path: string): Route | null {
  const end = path.indexOf("/", APPS.length);
  if (end <= APPS.length) return null;
  const appId = path.slice(APPS.length, end);
  const rest = path.slice(end + 1);
  if (rest === "events" || rest === "batch_events" || rest === "channels")
    return { appId, endpoint: rest, name: "" };

  const [collection, name = "", action, ...more] = rest.split("/");
  if (name === "" || more.length > 0) return null;
  const endpoint = endpointOf(collection, action);
  return endpoint === null ? null : { appId, endpoint, name: unescapedPath(name) };
}

function endpointOf(collection: string | undefined, action: string | undefined): Endpoint | null {
  if (collection === "channels" && action === undefined) return "channel";
  if (collection === "channels" && action === "users") return "users";
  if (collection === "users" && action === "terminate_connections") return "terminate_connections";
  return null;
}
