// Steps of SCAN and its like. A cursor names the start of the engine that gave it: no other start has the same order of
// keys, so an iteration that went on there would miss some of them in silence.
import { invalid } from "../../../api/jsonapi/errors.ts";
import type { CacheConnection, Command } from "./connection.ts";
import { ReplyError, type Reply } from "./resp.ts";

/** Enough of the engine's 40 random digits. */
const RUN_ID = /^run_id:([0-9a-f]{16})/m;

/** What a step has found. */
export interface Step {
  found: Reply[];
  /** Null at the end of the iteration. */
  cursor: string | null;
}

/**
 * Sends one command of an iteration.
 * @param from the cursor of the step before; `0` to begin.
 * @throws ApiError 422 for a cursor of another start; ReplyError when the engine refuses.
 */
export async function iterate(
  cache: CacheConnection,
  from: string,
  commandAt: (cursor: string) => Command,
): Promise<Step> {
  const [at = "0", givenRun = ""] = from.split(".");
  // In one write: behind the gateway, a connection without an iteration may outlast the engine.
  const [info, reply] = await cache.ask([["INFO", "server"], commandAt(at)]);
  if (info instanceof ReplyError) throw info;
  if (reply instanceof ReplyError) throw reply;
  const run = RUN_ID.exec(String(info))?.[1] ?? "";
  if (at !== "0" && givenRun !== run) throw ofAnotherStart();
  const [next, found] = arrayOf(reply);
  return { found: arrayOf(found), cursor: String(next) === "0" ? null : `${String(next)}.${run}` };
}

export function arrayOf(reply: Reply | undefined): Reply[] {
  return Array.isArray(reply) ? reply : [];
}

function ofAnotherStart(): Error {
  const reason =
    "The field cursor is from before the cache started anew, which changed the order. Begin without it.";
  return invalid({ cursor: [reason] });
}
