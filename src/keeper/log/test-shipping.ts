// What the tests of shipping share: servers, a keeper that just started, and restores of all that an archive has.
import { expect } from "bun:test";
import type { FoundEngine } from "../../engines/installed.ts";
import { chainOf, promisedEnd, type LogCatalog } from "./chain.ts";
import { LogArchive } from "./log-archive.ts";
import { parseLsn, parseSegmentName } from "./segment.ts";
import { ShippedLog } from "./shipped-log.ts";
import { LogPostgres, SEGMENT_BYTES, type Base, type MemoryStore, type Restored } from "./test-support.ts";

export const PREFIX = "archives/a/log/";
const servers: LogPostgres[] = [];

/** Removes all servers of a test. */
export async function removeServers(): Promise<void> {
  for (const server of servers.splice(0)) await server.remove();
}

/** A keeper that has just started: it knows nothing but the target. */
export function freshLog(store: MemoryStore): ShippedLog {
  return new ShippedLog(new LogArchive(store, PREFIX), SEGMENT_BYTES);
}

export async function freshServer(engine?: FoundEngine): Promise<LogPostgres> {
  const server = await LogPostgres.start(engine);
  servers.push(server);
  await server.query("create table t(n bigint, pad text)");
  return server;
}

export async function write(server: LogPostgres, rows: number): Promise<void> {
  await server.query(`insert into t select g, repeat('x', 200) from generate_series(1, ${rows}) g`);
}

/** Passes until all is shipped. */
export async function shipAll(log: ShippedLog, server: LogPostgres): Promise<void> {
  for (let count = 0; count < 50; count += 1) if ((await log.pass(server.log, 4)) === "end") return;
  throw new Error("the log is never shipped to its end");
}

export async function catalogOf(store: MemoryStore): Promise<LogCatalog> {
  const archive = new LogArchive(store, PREFIX);
  const objects = await archive.load();
  return { segmentBytes: SEGMENT_BYTES, objects, histories: archive.histories, watermark: archive.watermark };
}

/** Restores a base with all that the archive has. */
export async function restoreAll(
  server: LogPostgres,
  store: MemoryStore,
  base: Base,
  settings?: string[],
): Promise<Restored> {
  const catalog = await catalogOf(store);
  const first = parseSegmentName(base.startSegment, SEGMENT_BYTES);
  const timeline = Number.parseInt(catalog.watermark?.segment.slice(0, 8) ?? "", 16);
  if (first === null) throw new Error("the base does not say where its log begins");
  const chain = chainOf(catalog, timeline, first, promisedEnd(catalog));
  if (chain.gap !== null) throw new Error(`there is a gap after ${chain.gap.after}`);
  const archive = new LogArchive(store, PREFIX);
  await archive.load();
  const segments = await Promise.all(
    chain.segments.map(async ({ name }) => ({ name, bytes: await archive.read(name, SEGMENT_BYTES) })),
  );
  const restored = await server.restore(base, {
    segments,
    settings: settings ?? ["recovery_target=immediate"],
  });
  servers.push(restored.server);
  return restored;
}

const FAR_FUTURE = ["recovery_target_time=2100-01-01 00:00:00+00"];

/** How far a restore comes with all that the archive has. It ends there, since its target lies beyond. */
export async function reachOf(server: LogPostgres, store: MemoryStore, base: Base): Promise<string | null> {
  const { isReady, reached } = await restoreAll(server, store, base, FAR_FUTURE);
  expect(isReady).toBe(false);
  return reached;
}

/** Where the log ends in memory. What is written to its files need not be flushed yet. */
export async function inserted(server: LogPostgres): Promise<number> {
  const [row] = await server.query<{ at: string }>("select pg_current_wal_insert_lsn()::text as at");
  return parseLsn(row?.at ?? "");
}

/** Recovery up to the record of the watermark. */
export function atLatest(log: ShippedLog): string[] {
  return [`recovery_target_lsn=${log.watermark?.lsn}`, "recovery_target_action=promote"];
}
