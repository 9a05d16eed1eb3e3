// Copies the readings of a host into the store: each minute once, including minutes from a time without a control plane.
import { setTimeout as sleep } from "node:timers/promises";
import type { ReadingBatch } from "../../../contracts/readings.ts";
import type { Log } from "../../../lib/log.ts";
import type { Database, Transaction } from "../../../store/database.ts";
import type { ServedHost } from "../../kind.ts";
import { markLateHours } from "../usage/sample.ts";
import { COLUMNS, FIGURES } from "./columns.ts";
import { keepPartitions } from "./partitions.ts";
import { floorTo, LEVELS, lockRolled, rollUp } from "./roll-up.ts";

/** The host has new readings once a minute. */
const INTERVAL_MS = 5_000;

const [MINUTES] = LEVELS;

/** How far the clock of a host may be ahead. */
const MAX_AHEAD_MS = 3_600_000;

/** Adds the minutes in `added` to the hours of the usage. The clients of an instance behind the gateway are those there. */
const COUNT_USAGE = `
  insert into usage_hours as h (resource_id, hour, connections, messages_received, messages_sent)
  select resource_id, date_trunc('hour', at, 'UTC'), coalesce(max(coalesce(gateway_connections, connections)), 0),
         coalesce(sum(messages_received), 0), coalesce(sum(messages_sent), 0)
  from added join usage_resources using (resource_id)
  group by 1, 2 order by 1, 2
  on conflict (resource_id, hour) do update
  set connections = greatest(h.connections, excluded.connections),
      messages_received = h.messages_received + excluded.messages_received,
      messages_sent = h.messages_sent + excluded.messages_sent`;

/** Polls the host until the signal is aborted. */
export async function followReadings(
  { db, host }: { db: Database; host: Pick<ServedHost, "id" | "driver"> },
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  let cursor: string | undefined;
  while (!signal.aborted) {
    try {
      const answer = await host.driver.readings(cursor);
      if (answer.batches.length > 0) await takeReadings(db, host.id, answer.batches, Date.now());
      // With the cursor of the next question the host forgets these batches, so it comes after the commit.
      cursor = answer.cursor;
    } catch (error) {
      // The host keeps the readings until they are taken.
      log.debug({ error }, "the readings of a host could not be taken");
    }
    await sleep(INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Adds the batches and combines them, in one transaction. A minute that is there already stays as it is, so batches may
 * come again. Minutes that are no longer kept, and those of a clock that is far ahead, are left out.
 */
export async function takeReadings(
  db: Database,
  hostId: string,
  batches: ReadingBatch[],
  nowMs: number,
): Promise<void> {
  const oldest = floorTo(nowMs - MINUTES.keptMs, MINUTES.ms);
  const kept = batches
    .map(({ at, readings }) => ({ atMs: floorTo(Date.parse(at), MINUTES.ms), readings }))
    .filter(({ atMs }) => atMs >= oldest && atMs <= nowMs + MAX_AHEAD_MS);
  if (kept.length === 0) return;
  const addedMs = Math.min(...kept.map(({ atMs }) => atMs));
  const newestMs = Math.max(...kept.map(({ atMs }) => atMs + MINUTES.ms));
  await db.begin(async (tx) => {
    const rolled = await lockRolled(tx, addedMs);
    await keepPartitions(tx, nowMs);
    await insertRows(tx, hostId, kept);
    await markLateHours(tx, new Date(addedMs));
    // A stretch has ended when the minute after it has begun, by the host's own clock.
    await rollUp(tx, rolled, { addedMs, nowMs: Math.max(newestMs, rolled["fives"] ?? 0) });
  });
}

/**
 * One statement for all instances and minutes, which counts the usage of those minutes too that were not there before.
 * Ids that belong to no resource are left out. The processes of an application count together for what they run for.
 */
async function insertRows(
  tx: Transaction,
  hostId: string,
  batches: { atMs: number; readings: ReadingBatch["readings"] }[],
): Promise<void> {
  const rows = batches.flatMap(({ atMs, readings }) => {
    const at = new Date(atMs).toISOString();
    const ofInstances = readings.map((reading) => [
      reading.id,
      at,
      FIGURES.map((name) => reading[name] ?? null),
    ]);
    return [[hostId, at, []], ...ofInstances];
  });
  const figures = COLUMNS.map((_, index) => `sum((reading -> 2 ->> ${index})::float8)`).join(", ");
  await tx.unsafe(
    `with each as (
       select distinct on (reading ->> 0, reading ->> 1)
         measured_as(reading ->> 0) as id, (reading ->> 1)::timestamptz as at, reading
       from jsonb_array_elements($1::text::jsonb) with ordinality readings (reading, place)
       order by reading ->> 0, reading ->> 1, place),
     added as (
       insert into metrics_minutes (resource_id, at, minutes, ${COLUMNS.join(", ")})
       select id, at, 1, ${figures} from each
       where exists (select from measured where measured.id = each.id and host_id = $2)
       group by id, at
       on conflict (resource_id, at) do nothing
       returning *)
     ${COUNT_USAGE}`,
    [JSON.stringify(rows), hostId],
  );
}
