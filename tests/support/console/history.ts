// A past for resources of a Pilvi under test: metrics of the last hours, and usage of the last month.
import type { Reading, ReadingBatch } from "../../../src/contracts/readings.ts";
import { takeReadings } from "../../../src/resources/shared/metrics/intake.ts";
import type { Database } from "../../../src/store/database.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const GIBIBYTE = 1024 ** 3;

/** A stretch of the past, in minutes before now. */
interface Stretch {
  from: number;
  until: number;
}

/** The hours before now that `writeMetrics` writes. */
export const MEASURED_HOURS = 5;
/** When the resources slept. */
export const SLEEP: Stretch = { from: 180, until: 100 };
/** When no host measured anything. */
export const AWAY: Stretch = { from: 60, until: 40 };

/** Writes minutes of metrics for the resources, as their host would have measured them. */
export async function writeMetrics(store: Database, ids: readonly string[]): Promise<void> {
  const now = Date.now();
  const last = now - (now % MINUTE_MS);
  const batches: ReadingBatch[] = [];
  for (let ago = MEASURED_HOURS * 60; ago > 1; ago -= 1) {
    if (isIn(AWAY, ago)) continue;
    const readings = isIn(SLEEP, ago) ? [] : ids.map((id) => readingOf(id, ago));
    batches.push({ at: new Date(last - ago * MINUTE_MS).toISOString(), readings });
  }
  for (const table of ["caches", "databases", "websocket_servers", "websocket_applications", "environments"])
    await store.unsafe(`update ${table} set created_at = now() - interval '1 day'`);
  const [host] = await store<{ id: string }[]>`select id from hosts`;
  await takeReadings(store, host?.id ?? "", batches, now);
}

/** Whether the stretch has the minute so many minutes ago. */
export function isIn({ from, until }: Stretch, ago: number): boolean {
  return ago <= from && ago > until;
}

function readingOf(id: string, ago: number): Reading {
  const load = 1 + Math.sin(ago / 12) / 2;
  return {
    id,
    awakeMs: MINUTE_MS,
    computeMs: MINUTE_MS / 2,
    cpuMs: 9_000 * load,
    memoryBytes: 180e6 * load,
    storageBytes: 400e6 - ago * 1e5,
    wakes: ago === SLEEP.until ? 1 : 0,
    commits: 1_200 * load,
    rollbacks: 90,
    rowsWritten: 600 * load,
    blocksHit: 950,
    blocksRead: 50 * load,
    deadlocks: ago % 90 === 0 ? 1 : 0,
    walBytes: 2e6 * load,
    hits: 6_000 * load,
    misses: 700,
    evictedKeys: 30,
    expiredKeys: 120 * load,
    commands: 9_000 * load,
    networkInBytes: 3e6 * load,
    networkOutBytes: 9e6 * load,
    connections: Math.round(20 * load),
    activeConnections: Math.round(6 * load),
    idleInTransactionConnections: 2,
    blockedConnections: 3,
    keys: 52_000 * load,
    dataBytes: 120e6 * load,
    messagesReceived: 300 * load,
    messagesSent: 9_000 * load,
    apiRequests: 120 * load,
    webhooksDelivered: 30,
    webhooksFailed: ago % 40 === 0 ? 6 : 0,
    webhooksDropped: 0,
    responses2xx: Math.round(900 * load),
    responses3xx: 40,
    responses4xx: 12,
    responses5xx: ago % 90 === 0 ? 3 : 0,
    responsesIn10ms: 800,
    responsesIn200ms: Math.round(100 * load),
    responsesIn2s: 20,
    responseMs: 24_000,
  };
}

/** The month before the present month, such as `2026-10`, which is complete on any day. */
export function lastMonth(): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString().slice(0, 7);
}

/** Has the resources exist for two months: awake for six hours a day, and WebSocket clusters all day. */
export async function writeUsage(store: Database, ids: readonly string[]): Promise<void> {
  const list = store.array([...ids], "text");
  const first = `${lastMonth()}-01`;
  const asleepMs = (DAY_MS * 3) / 4;
  await store`
    update usage_resources set created_at = now() - interval '62 days' where resource_id = any(${list})`;
  await store`
    update usage_sizes set memory_bytes = ${GIBIBYTE} where resource_id = any(${list}) and memory_bytes > 0`;
  await store`
    insert into usage_days (resource_id, day, awake_ms, awake_mib_ms, asleep_ms, asleep_mib_ms, state,
      storage_byte_hours, connections, messages_received, messages_sent)
    select resource_id, day, ${DAY_MS}::bigint - asleep_ms,
           case when asleep_ms > 0 then (${DAY_MS}::bigint - asleep_ms) * 1024 else 0 end,
           asleep_ms, asleep_ms * 1024, 'awake', 24000000000, 40, 1000, 25000
    from (select resource_id, case kind when 'websockets' then 0 else ${asleepMs}::bigint end as asleep_ms
          from usage_resources where resource_id = any(${list})) resource,
      generate_series(${first}::date, ${first}::date + interval '1 month - 1 day', '1 day') day
    on conflict do nothing`;
}
