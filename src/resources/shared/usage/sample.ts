// Samples what neither events nor readings report: the storage of all resources, asleep as well. Adds hours to days.
import type { Database, Transaction } from "../../../store/database.ts";

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
    order by a.resource_id, h.hour
    on conflict (resource_id, hour) do update set storage_bytes = excluded.storage_bytes`;
  return first;
}

/** Notes that hours of an earlier day have changed, which no roll-up of the present day adds up. */
export async function markLateHours(tx: Transaction, since: Date): Promise<void> {
  await tx`
    update usage_horizon set late_hours_since = least(late_hours_since, ${since}::timestamptz)
    where ${since}::timestamptz < date_trunc('day', now(), 'UTC')`;
}

/** Adds up the hours of each day from a time on, and of earlier days whose readings came late. */
export async function rollUpHours(db: Database, from: Date): Promise<void> {
  await db.begin(async (tx) => {
    const [late] = await tx<{ since: Date | null }[]>`
      select late_hours_since as since from usage_horizon for update`;
    const since = late?.since ?? null;
    if (since !== null) await tx`update usage_horizon set late_hours_since = null`;
    await addUpHours(tx, since !== null && since < from ? since : from);
  });
}

async function addUpHours(tx: Transaction, from: Date): Promise<void> {
  await tx`
    insert into usage_days as d (resource_id, day, storage_byte_hours, connections, messages_received, messages_sent)
    select resource_id, (hour at time zone 'utc')::date, sum(storage_bytes), max(connections),
           sum(messages_received), sum(messages_sent)
    from usage_hours where hour >= date_trunc('day', ${from}::timestamptz, 'UTC')
    group by 1, 2 order by 1, 2
    on conflict (resource_id, day) do update
    set storage_byte_hours = excluded.storage_byte_hours, connections = excluded.connections,
        messages_received = excluded.messages_received, messages_sent = excluded.messages_sent
    where (d.storage_byte_hours, d.connections, d.messages_received, d.messages_sent)
      is distinct from (excluded.storage_byte_hours, excluded.connections, excluded.messages_received, excluded.messages_sent)`;
}
