// Samples what no event reports: the storage of all resources, and the connections and messages of WebSocket clusters.
import { forEachLimited } from "../../../lib/for-each-limited.ts";
import type { Figures } from "../../../contracts/host-answers.ts";
import type { Database } from "../../../store/database.ts";
import type { ServedHost } from "../../kind.ts";
import { kindOfId } from "../instance-kinds.ts";

const DEADLINE_MS = 2_000;
const AT_ONCE = 16;

/**
 * Writes the storage of this hour, and of hours that passed without a sample, as it was measured last; asleep as well.
 * The last sample of an hour stays.
 * @returns the first hour that was written.
 */
export async function sampleStorage(db: Database): Promise<Date> {
  const [row] = await db<{ first: Date }[]>`
    select coalesce(least(max(hour) + interval '1 hour', date_trunc('hour', now(), 'UTC')),
                    date_trunc('hour', now(), 'UTC')) as first
    from usage_hours where storage_bytes > 0`;
  const first = row?.first ?? new Date();
  await db`
    insert into usage_hours (resource_id, hour, storage_bytes)
    select a.resource_id, h.hour, a.storage_bytes
    from allocations a join usage_resources r using (resource_id)
    cross join lateral generate_series(
      greatest(date_trunc('hour', r.created_at, 'UTC'), ${first}::timestamptz, date_trunc('hour', now(), 'UTC') - interval '32 days'),
      date_trunc('hour', now(), 'UTC'), interval '1 hour') h (hour)
    where a.storage_bytes > 0
    on conflict (resource_id, hour) do update set storage_bytes = excluded.storage_bytes`;
  return first;
}

/** Asks all WebSocket clusters that run on the host; a cluster that does not answer is left out. */
export async function sampleClusters(
  db: Database,
  { observedStates, driver }: Pick<ServedHost, "observedStates" | "driver">,
): Promise<void> {
  const running = [...observedStates.all()].filter(
    ({ id, state }) => state === "running" && kindOfId(id) === "websockets",
  );
  const signal = AbortSignal.timeout(DEADLINE_MS);
  await forEachLimited(running, AT_ONCE, async ({ id }) => {
    const figures = await driver.figures(id, signal).catch(() => null);
    if (figures !== null) await recordFigures(db, id, figures);
  });
}

/**
 * Adds the messages since the last reading to the present hour. A counter that is lower than before belongs to a new
 * process, which began at 0.
 */
export async function recordFigures(db: Database, id: string, { whole, parts }: Figures): Promise<void> {
  const readings = parts.map(({ id: part, figures }) => ({
    part,
    received: figures["messagesReceived"] ?? 0,
    sent: figures["messagesSent"] ?? 0,
  }));
  await db`
    with reading as (
      select * from json_to_recordset(${readings}::json) as r (part text, received bigint, sent bigint)
    ), more as (
      select coalesce(sum(case when r.received >= c.messages_received then r.received - c.messages_received
                               else r.received end), 0) as received,
             coalesce(sum(case when r.sent >= c.messages_sent then r.sent - c.messages_sent
                               else r.sent end), 0) as sent
      from reading r left join usage_counters c on c.id = r.part
    ), noted as (
      insert into usage_counters (id, resource_id, messages_received, messages_sent)
      select part, ${id}::text, received, sent from reading
      where exists (select from usage_resources where resource_id = ${id} and deleted_at is null)
      on conflict (id) do update
      set messages_received = excluded.messages_received, messages_sent = excluded.messages_sent
    )
    insert into usage_hours as h (resource_id, hour, connections, messages_received, messages_sent)
    select ${id}::text, date_trunc('hour', now(), 'UTC'), ${whole["connections"] ?? 0}::bigint, received, sent from more
    where exists (select from usage_resources where resource_id = ${id} and deleted_at is null)
    on conflict (resource_id, hour) do update
    set connections = greatest(h.connections, excluded.connections),
        messages_received = h.messages_received + excluded.messages_received,
        messages_sent = h.messages_sent + excluded.messages_sent`;
}

/** Adds up the hours of each day from a time on. */
export async function rollUpHours(db: Database, from: Date): Promise<void> {
  await db`
    insert into usage_days (resource_id, day, storage_byte_hours, connections, messages_received, messages_sent)
    select resource_id, (hour at time zone 'utc')::date, sum(storage_bytes), max(connections),
           sum(messages_received), sum(messages_sent)
    from usage_hours where hour >= date_trunc('day', ${from}::timestamptz, 'UTC')
    group by 1, 2
    on conflict (resource_id, day) do update
    set storage_byte_hours = excluded.storage_byte_hours, connections = excluded.connections,
        messages_received = excluded.messages_received, messages_sent = excluded.messages_sent`;
}
