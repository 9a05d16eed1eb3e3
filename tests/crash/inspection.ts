// Inspects a whole Pilvi for leftovers: rows, folders, processes, listening ports.
import { VERIFICATIONS } from "../../src/resources/shared/backups/verifications.ts";
import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config.ts";
import { lockHolders } from "../../src/host/os/locks.ts";
import { openVault } from "../../src/processes/bootstrap/identity.ts";
import { storeAddress } from "../../src/processes/bootstrap/store-instance.ts";
import { openDatabase, type Database } from "../../src/store/database.ts";
import { until, type TestPilvi } from "../support/pilvi/pilvi.ts";

/** The files that a folder of an instance may hold once nothing is under way. */
const KNOWN_FILES = new Set([
  "manifest.json",
  "manifest.json.kept",
  "recorded",
  "lock",
  "engine.log",
  "conf",
  "data",
  "run",
  "tmp",
]);

/** Opens a connection of the test's own to the store. */
export async function openStore(pilvi: TestPilvi): Promise<Database> {
  const config = loadConfig(pilvi.env);
  return openDatabase(storeAddress(config, await openVault(config)), { maxConnections: 2 });
}

/**
 * Waits until nothing is under way and checks that everything belongs to these caches, and that nothing of theirs is
 * missing.
 */
export async function expectExactly(pilvi: TestPilvi, store: Database, ids: string[]): Promise<void> {
  const wanted = [...ids].sort();
  await until("all work is done", () => isSettled(store));
  expect(await rowsOf(store, wanted)).toEqual({
    caches: wanted.map((id) => ({ id, status: "available" })),
    work: wanted,
    ports: wanted,
    allocations: wanted,
    counted: wanted.length,
    strayKeys: [],
  });
  expect(pilvi.instanceFolders().sort()).toEqual(wanted);
  for (const id of ["store", ...wanted]) {
    const files = readdirSync(join(pilvi.dataDir, "instances", id));
    expect(files.filter((file) => !KNOWN_FILES.has(file))).toEqual([]);
  }
  expectEngines(pilvi, wanted);
}

/** The ports of this Pilvi's range with a listener. */
export async function listeningPorts(range: { first: number; last: number }): Promise<number[]> {
  const lines = (await Bun.file("/proc/net/tcp").text()).split("\n").slice(1);
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === "0A")
    .map(([, local = ""]) => Number.parseInt(local.split(":")[1] ?? "", 16))
    .filter((port) => port >= range.first && port <= range.last)
    .sort((a, b) => a - b);
}

async function isSettled(store: Database): Promise<boolean> {
  try {
    const [row] = await store<{ open: number }[]>`
      select count(*)::int as open from work
      where kind <> ${VERIFICATIONS}
        and (owner is not null or run_at < 'infinity' or deadline_at is not null or last_error is not null)`;
    return row?.open === 0;
  } catch {
    // The store itself is being started again.
    return false;
  }
}

async function rowsOf(store: Database, wanted: string[]) {
  return {
    caches: [...(await store<{ id: string; status: string }[]>`select id, status from caches order by id`)],
    work: idsOf(await store`select id from work where kind <> ${VERIFICATIONS}`),
    ports: idsOf(await store`select id from instances`),
    allocations: idsOf(await store`select resource_id as id from allocations`),
    counted: await countedIn(store),
    strayKeys: idsOf(
      await store`
        select resource_id as id from idempotency_keys
        where resource_id is not null and not (resource_id = any(${store.array(wanted, "text")}))`,
    ),
  };
}

/** How many resources the sums of the quotas have for all organizations together. */
async function countedIn(store: Database): Promise<number | undefined> {
  const [row] = await store<{ counted: number }[]>`
    select coalesce(sum(caches + databases + websockets + applications), 0)::int as counted
    from quota_usage where owner in (select family_id from organizations)`;
  return row?.counted;
}

function idsOf(rows: { id: string }[]): string[] {
  return rows.map((row) => row.id).sort();
}

/** Each instance has one engine, and no process holds the lock of another instance. */
function expectEngines(pilvi: TestPilvi, ids: string[]): void {
  const instances = join(pilvi.dataDir, "instances");
  for (const id of ["store", ...ids]) expect([id, pilvi.enginePids(id).length]).toEqual([id, 1]);
  const locked = [...lockHolders().keys()].filter((path) => path.startsWith(`${instances}/`));
  expect(locked.sort()).toEqual(["store", ...ids].map((id) => join(instances, id, "lock")).sort());
}
