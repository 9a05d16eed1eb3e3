// Copies the journal of a host into the events: each record once, including records from a time without a control
// plane.
import { setTimeout as sleep } from "node:timers/promises";
import type { JournalRecord } from "../../../contracts/journal.ts";
import type { Log } from "../../../lib/log.ts";
import { storable } from "../../../lib/storable.ts";
import type { Database, Transaction } from "../../../store/database.ts";
import { isRefused } from "../../../store/violations.ts";
import type { ServedHost } from "../../kind.ts";

const RETRY_MS = 500;

/** The last words of an application may quote secrets, which events are not for. */
const SEE_LOG = "The log of the environment says why.";

/** Polls the host until the signal is aborted; the host holds its answer until it has a new record. */
export async function followJournal(
  { db, host }: { db: Database; host: Pick<ServedHost, "id" | "driver"> },
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const records = await host.driver.journal(await takenOf(db, host.id), signal);
      if (records.length > 0) await takeRecords(db, host.id, records, log);
    } catch (error) {
      // The host sends a record again until it is taken or skipped.
      if (!signal.aborted) log.debug({ error }, "the journal of a host could not be taken");
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** The sequence of the last record that was taken from a host. */
async function takenOf(db: Database, hostId: string): Promise<number> {
  const [row] = await db<{ taken: number }[]>`
    select taken::float8 as taken from host_journals where host_id = ${hostId}`;
  return row?.taken ?? 0;
}

/**
 * Adds the new records. A record that the store refuses is skipped, so that it keeps back no other.
 * @returns how many records were added.
 */
export async function takeRecords(
  db: Database,
  hostId: string,
  records: JournalRecord[],
  log: Log,
): Promise<number> {
  try {
    return await takeTogether(db, hostId, records, insertRecords);
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  let sum = 0;
  for (const record of records) sum += await takeOrSkip(db, hostId, record, log);
  return sum;
}

async function takeOrSkip(db: Database, hostId: string, record: JournalRecord, log: Log): Promise<number> {
  try {
    return await takeTogether(db, hostId, [record], insertRecords);
  } catch (error) {
    if (!isRefused(error)) throw error;
    const { id, type, sequence } = record;
    log.warn({ error, id, type, sequence }, "a record of the journal cannot be stored, and is skipped");
    await takeTogether(db, hostId, [record], async () => undefined);
    return 0;
  }
}

/** Takes the new records, in the transaction that records their sequence. @returns how many were new. */
async function takeTogether(
  db: Database,
  hostId: string,
  records: JournalRecord[],
  insert: (tx: Transaction, fresh: JournalRecord[]) => Promise<void>,
): Promise<number> {
  return await db.begin(async (tx) => {
    await tx`insert into host_journals (host_id) values (${hostId}) on conflict do nothing`;
    const [row] = await tx<{ taken: number }[]>`
      select taken::float8 as taken from host_journals where host_id = ${hostId} for update`;
    const taken = row?.taken ?? 0;
    const fresh = records.filter(({ sequence }) => sequence > taken);
    const last = fresh.at(-1);
    if (last === undefined) return 0;
    await tx`update host_journals set taken = ${last.sequence} where host_id = ${hostId}`;
    await insert(tx, fresh);
    return fresh.length;
  });
}

/**
 * Skips records that belong to no resource, such as those of the store. A record of a process belongs to its
 * environment. Organizations are locked in a fixed order, so that two transactions never wait for each other.
 */
async function insertRecords(tx: Transaction, records: JournalRecord[]): Promise<void> {
  const rows = records.map((record) => ({ ...record, details: detailsOf(record) }));
  const ids = tx.array([...new Set(records.map(({ id }) => id))], "text");
  await tx`
    with resources as (
      select 'caches' as type, id as instance, id, organization_id, name from caches where id = any(${ids})
      union all select 'databases', id, id, organization_id, name from databases where id = any(${ids})
      union all select 'websocketServers', id, id, organization_id, name from websocket_servers where id = any(${ids})
      union all
      select 'environments', p.id, e.id, a.organization_id, e.name
      from application_processes p join environments e on e.id = p.environment_id
      join applications a on a.id = e.application_id where p.id = any(${ids})
    ), deleted as (
      select distinct on (resource_id) resource_type as type, resource_id as instance, resource_id as id,
             organization_id, resource_name as name
      from events
      where resource_id = any(${ids}) and type = 'deleted' and resource_id not in (select id from resources)
      order by resource_id, at desc
    )
    insert into events (organization_id, at, type, resource_type, resource_id, resource_name, details)
    select r.organization_id, record.at, record.type, r.type, r.id, r.name,
           case when r.type = 'environments' and record.details ? 'reason'
             then record.details || jsonb_build_object('reason', ${SEE_LOG}::text) else record.details end
    from json_to_recordset(${rows}::json) as record (sequence bigint, id text, at timestamptz, type text, details jsonb)
    join (select * from resources union all select * from deleted) r on r.instance = record.id
    order by hashtext(r.organization_id), record.sequence`;
  // The status of an environment is that of its processes, of which the store has none.
  await tx`
    select pg_notify('status', environment_id) from (
      select distinct environment_id from application_processes where id = any(${ids})) e`;
}

/** The public part of a record. The journal of an earlier host may have texts that the store does not take. */
function detailsOf(record: JournalRecord): Record<string, unknown> {
  const { pid: _pid, wake, ...others } = storable(record.details);
  if (wake === undefined) return others;
  const { address, ...reason } = wake.reason;
  return { ...others, ...reason, ...(address !== "" && { address }), spans_ms: wake.spansMs };
}
