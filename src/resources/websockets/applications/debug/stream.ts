// The Server-Sent Events of a watched application.
import { isStillValid, type Principal } from "../../../../api/auth/auth.ts";
import {
  endlessStream,
  HEARTBEAT,
  HEARTBEAT_MS,
  RETRY_MS,
} from "../../../../api/operation/endless-stream.ts";
import type { Database } from "../../../../store/database.ts";
import { findApplication } from "../store.ts";
import { renderObserved, type Observed } from "./render.ts";
import type { Watcher } from "./watcher.ts";

/** How often the rights of a watcher are checked while there is much to send. */
const CHECK_MS = 1_000;

/** The dependencies and the request of a stream. */
interface DebugStreamOptions {
  db: Database;
  principal: Principal;
  /** The id of the application. */
  id: string;
  watcher: Watcher;
  /** Gives the watcher's place back. */
  end(): void;
  /** Aborted when the client disconnects, or the process ends. */
  signals: AbortSignal[];
}

/** Ends when the token or session is revoked or expires, or the application is deleted. */
export function debugStream(options: DebugStreamOptions): ReadableStream<Uint8Array> {
  const { signals, end } = options;
  return endlessStream({ signals, onEnd: end, chunksOf: (ended) => chunksOf(options, ended) });
}

async function* chunksOf(
  { db, principal, id, watcher }: DebugStreamOptions,
  ended: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  yield `retry: ${RETRY_MS}\n\n`;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  while (!ended.aborted) {
    const observed = watcher.take();
    if (performance.now() - checkedAtMs >= CHECK_MS) {
      if (!(await isAllowed(db, principal, id))) return;
      checkedAtMs = performance.now();
    }
    if (observed.length > 0) yield observed.map(messageOf).join("");
    await watcher.within(HEARTBEAT_MS, ended);
    if (!watcher.hasMore) yield HEARTBEAT;
  }
}

async function isAllowed(db: Database, principal: Principal, id: string): Promise<boolean> {
  const [isValid, application] = await Promise.all([
    isStillValid(db, principal),
    findApplication(db, principal.organizationId, id),
  ]);
  return isValid && application !== undefined;
}

function messageOf(observed: Observed): string {
  return `data: ${JSON.stringify(renderObserved(observed))}\n\n`;
}
