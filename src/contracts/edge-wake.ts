// The questions of the edge to the host about instances that do not run: a line each, `VERSION ROUTE CLIENT`. The answer
// is a line as well: the port once the instance runs, or a word with the reason of a refusal.

/** The edge that runs may have been started by a host of another version. */
export const EDGE_WAKE_VERSION = 1;

/** The longest question: the version, an id, and the address and port of a client. */
export const MAX_WAKE_QUESTION = 140;

const CLIENT = /^[0-9a-f.:[\]]+$/i;

/** Why a request cannot be passed on: too many wait, the instance cannot run, it takes too long, or it is unknown. */
const WAKE_REFUSALS = ["busy", "failed", "late", "unknown"] as const;

export type WakeRefusal = (typeof WAKE_REFUSALS)[number];

/** A question of the edge. */
export interface WakeQuestion {
  route: string;
  /** Address and port of the client that asks; empty when the edge does not say. */
  client: string;
}

/** Reads a question; null for a line of another version, or no question. */
export function readWakeQuestion(line: string): WakeQuestion | null {
  const [version, route, client = "", ...rest] = line.split(" ");
  if (version !== String(EDGE_WAKE_VERSION) || route === undefined || rest.length > 0) return null;
  return client === "" || CLIENT.test(client) ? { route, client } : null;
}
