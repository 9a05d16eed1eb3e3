// Follows a log: sends each line when it is written, from a position on, over restarts of the host.
import { isStillValid, type Principal } from "../../../api/auth/auth.ts";
import { HEARTBEAT, HEARTBEAT_MS } from "../../../api/operation/endless-stream.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { Database } from "../../../store/database.ts";
import { bookmark, eventMessage, streamStart } from "../event-stream.ts";

/** How soon a host that does not answer is asked again; a restarted host is back within a second. */
const RETRY_MS = 500;

/** How often at most it is asked whether a stream may go on, however fast an engine writes. */
const CHECK_INTERVAL_MS = 1_000;

/** How much longer than its wait the host may take for an answer. */
const GRACE_MS = 10_000;

/** A part of a log as it is sent. */
interface FollowedSlice {
  entries: { cursor: string; entry: object }[];
  next: string;
  /** Stands in the place of entries that are no longer kept; null without such. */
  gap: object | null;
}

/** The dependencies and the request of a stream. */
export interface FollowOptions {
  db: Database;
  principal: Principal;
  /** Whether the resource is still there. */
  isThere(): Promise<boolean>;
  /** Where the stream begins; undefined for where `read` begins. */
  cursor: string | undefined;
  /** Reads what follows a position, after a wait of some length when nothing does. @throws PublicError */
  read(cursor: string | undefined, waitMs: number, signal: AbortSignal): Promise<FollowedSlice>;
}

/** The whole text of a stream. It ends with its resource, and when its token or session is revoked or expires. */
export async function* followLog(
  options: FollowOptions,
  ended: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let { cursor } = options;
  yield streamStart(cursor);
  for (let checkAtMs = 0; !ended.aborted;) {
    if (performance.now() >= checkAtMs) {
      if (!(await mayGoOn(options))) return;
      checkAtMs = performance.now() + CHECK_INTERVAL_MS;
    }
    const slice = await sliceOf(options, cursor, ended);
    if (slice === null) {
      // The host is away. Its client must still see that this end of the stream lives.
      yield HEARTBEAT;
      await Bun.sleep(RETRY_MS);
      continue;
    }
    yield textOf(slice, cursor);
    cursor = slice.next;
  }
}

function textOf({ entries, next, gap }: FollowedSlice, cursor: string | undefined): string {
  const missing = gap === null ? "" : eventMessage(cursor ?? next, gap);
  const text = missing + entries.map(({ cursor: after, entry }) => eventMessage(after, entry)).join("");
  if (text !== "") return text;
  return next === cursor ? HEARTBEAT : bookmark(next);
}

async function mayGoOn({ db, principal, isThere }: FollowOptions): Promise<boolean> {
  const [isValid, isPresent] = await Promise.all([isStillValid(db, principal), isThere()]);
  return isValid && isPresent;
}

/** Null while the host cannot be reached. */
async function sliceOf(
  { read }: FollowOptions,
  cursor: string | undefined,
  ended: AbortSignal,
): Promise<FollowedSlice | null> {
  try {
    const signal = AbortSignal.any([ended, AbortSignal.timeout(HEARTBEAT_MS + GRACE_MS)]);
    return await read(cursor, HEARTBEAT_MS, signal);
  } catch (error) {
    if (error instanceof PublicError) return null;
    throw error;
  }
}
