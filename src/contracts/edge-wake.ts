// The questions of the edge to the host about instances that do not run: a line each, `VERSION ROUTE`. The answer is a
// line as well: the port once the instance runs, or a word that says why there is none.

/** The edge that runs may have been started by a host of another version. */
export const EDGE_WAKE_VERSION = 1;

/** The longest question: the version, a blank and an id. */
export const MAX_WAKE_QUESTION = 80;

/** Why a request cannot be passed on: too many wait, the instance cannot run, it takes too long, or it is unknown. */
export const WAKE_REFUSALS = ["busy", "failed", "late", "unknown"] as const;

export type WakeRefusal = (typeof WAKE_REFUSALS)[number];

/** The question about a route. */
export function wakeQuestion(route: string): string {
  return `${EDGE_WAKE_VERSION} ${route}`;
}

/** The route that a question is about; null for a line of another version, or no question. */
export function routeInQuestion(line: string): string | null {
  const [version, route, ...rest] = line.split(" ");
  return version === String(EDGE_WAKE_VERSION) && route !== undefined && rest.length === 0 ? route : null;
}
