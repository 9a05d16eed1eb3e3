// Streams of events as Server-Sent Events: what is committed from now on, or after an event that the client knows.
import { ApiError } from "../../../api/jsonapi/errors.ts";
import { isStillValid, type Principal } from "../../../api/auth/auth.ts";
import { endlessStream, HEARTBEAT, HEARTBEAT_MS } from "../../../api/operation/endless-stream.ts";
import type { Database } from "../../../store/database.ts";
import { bookmark, eventMessage, streamStart } from "../event-stream.ts";
import type { EventBells } from "./bells.ts";
import { EVENT_COLUMNS, type EventFilter, type EventRow } from "./list.ts";
import { renderEvent } from "./render.ts";

const BATCH = 100;

/** The dependencies and the request of a stream. */
export interface StreamOptions {
  db: Database;
  bells: EventBells;
  principal: Principal;
  filter: EventFilter;
  /** The id of the last event that the client has; null starts with the events from now on. */
  after: string | null;
  /** Aborted when the client disconnects, or the process ends. */
  signals: AbortSignal[];
  heartbeatMs?: number;
  slowMs?: number;
}

/**
 * Opens a stream, which counts for the limits until it ends.
 * @throws ApiError 410 when the event `after` is no longer kept, 429 when there are too many streams.
 */
export async function openStream(options: StreamOptions): Promise<ReadableStream<Uint8Array>> {
  const { db, principal, after, bells } = options;
  const bell = await bells.take(db, principal);
  try {
    const cursor = after === null ? await latestId(db, principal) : await assertKept(db, principal, after);
    return streamFrom(cursor, bell, options);
  } catch (error) {
    bell.complete();
    throw error;
  }
}

type Bell = Awaited<ReturnType<EventBells["take"]>>;

function streamFrom(first: string, bell: Bell, options: StreamOptions): ReadableStream<Uint8Array> {
  return endlessStream({
    ...options,
    chunksOf: (ended) => chunksOf(first, bell, ended, options),
    onEnd: () => bell.complete(),
  });
}

/** The whole text of a stream. The stream ends when its token or session is revoked or expires. */
async function* chunksOf(
  first: string,
  bell: Bell,
  ended: AbortSignal,
  { db, principal, filter, heartbeatMs = HEARTBEAT_MS }: StreamOptions,
): AsyncGenerator<string, void, undefined> {
  let cursor = first;
  yield streamStart(cursor);
  for (let sentId = cursor, dueAtMs = performance.now() + heartbeatMs; !ended.aborted;) {
    // Subscribes before it reads, so that a commit during the read notifies again.
    const rung = bell.next();
    const { isValid, rows } = await readAfter(db, principal, cursor);
    if (!isValid) return;
    cursor = rows.at(-1)?.id ?? cursor;
    const text = rows
      .filter((row) => isWanted(row, filter))
      .map((row) => eventMessage(row.id, renderEvent(row)))
      .join("");
    const isDue = performance.now() >= dueAtMs;
    if (text !== "" || isDue) {
      // A client whose filters hide every event still learns its position from a bookmark.
      yield text !== "" ? text : cursor === sentId ? HEARTBEAT : bookmark(cursor);
      sentId = cursor;
      dueAtMs = performance.now() + heartbeatMs;
    }
    if (rows.length < BATCH) await rung.within(dueAtMs - performance.now(), ended);
  }
}

function isWanted(row: EventRow, { types, resourceTypes, resourceIds }: EventFilter): boolean {
  return (
    (types === null || types.includes(row.type)) &&
    (resourceTypes === null || resourceTypes.includes(row.resourceType)) &&
    (resourceIds === null || resourceIds.includes(row.resourceId))
  );
}

/** The events after an id, in the order of their commits, and whether the token or session is still valid. */
async function readAfter(
  db: Database,
  principal: Principal,
  cursor: string,
): Promise<{ isValid: boolean; rows: EventRow[] }> {
  const { organizationId } = principal;
  const [rows, isValid] = await Promise.all([
    db<EventRow[]>`
      select ${db.unsafe(EVENT_COLUMNS)} from events
      where organization_id = ${organizationId} and id > ${cursor}::bigint
      order by events.id limit ${BATCH}`,
    isStillValid(db, principal),
  ]);
  return { isValid, rows };
}

async function latestId(db: Database, { organizationId }: Principal): Promise<string> {
  const [row] = await db<{ id: string }[]>`
    select coalesce(max(id), 0)::text as id from events where organization_id = ${organizationId}`;
  return row?.id ?? "0";
}

/** While an event is kept, all later events are kept as well. */
async function assertKept(db: Database, { organizationId }: Principal, after: string): Promise<string> {
  if (BigInt(after) === 0n) return after;
  const rows = await db`
    select from events where organization_id = ${organizationId} and id = ${after}::bigint`;
  if (rows.length > 0) return after;
  throw new ApiError(410, `The event ${after} is not kept any more. List the events, then follow them anew.`);
}
