// Copies of a sleeping cache on its host: a folder with a manifest for each, and its rows in the store.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SQL } from "bun";
import { manifestFrom, manifestText } from "../../src/contracts/manifest.ts";
import { uidOfPort } from "../../src/host/os/accounts.ts";
import { instanceFolder } from "../../src/host/os/layout.ts";
import type { TestPilvi } from "../../tests/support/pilvi/pilvi.ts";
import { insertCacheRows } from "./rows.ts";
import { vaultOf } from "./baselines.ts";

/** Ports that neither tests nor a usual Pilvi take; an instance has a port of its own. */
const PORTS = [
  { first: 1_200, last: 19_999 },
  { first: 30_000, last: 65_000 },
];

/** The highest number of copies. */
export const MOST_COPIES = PORTS.reduce((sum, { first, last }) => sum + last - first + 1, 0);

/** Where a copy sleeps. */
export interface SleepingCopy {
  id: string;
  port: number;
}

/**
 * Adds copies of a cache that sleeps, and stops Pilvi: its next host finds all of them asleep.
 * @throws when there are not so many ports.
 */
export async function addSleepingCopies(
  pilvi: TestPilvi,
  db: SQL,
  modelId: string,
  count: number,
): Promise<SleepingCopy[]> {
  if (count > MOST_COPIES) throw new Error(`a host has ports for ${MOST_COPIES} copies`);
  const ids = await insertCacheRows(db, vaultOf(pilvi), modelId, count);
  const copies = ids.map((id, index) => ({ id, port: portOf(index) }));
  for (const copy of copies) writeFolder(pilvi.dataDir, modelId, copy);
  await placeOnHost(db, modelId, copies);
  await pilvi.stop();
  return copies;
}

function portOf(index: number): number {
  let left = index;
  for (const { first, last } of PORTS) {
    if (first + left <= last) return first + left;
    left -= last - first + 1;
  }
  throw new Error("there is no port left");
}

/** The folder as the suspend of the model left it, at the public address, without the files that a wake writes anew. */
function writeFolder(dataDir: string, modelId: string, { id, port }: SleepingCopy): void {
  const [model, copy] = [instanceFolder(dataDir, modelId), instanceFolder(dataDir, id)];
  const manifest = manifestFrom(readFileSync(model.manifest, "utf8"));
  const { spec } = manifest;
  mkdirSync(copy.path);
  chmodSync(copy.path, 0o711);
  for (const path of [copy.conf, copy.data, copy.run, copy.tmp]) mkdirSync(path, { mode: 0o700 });
  copyFileSync(join(model.data, "dump.rdb"), join(copy.data, "dump.rdb"));
  writeFileSync(copy.lock, "", { mode: 0o600 });
  const own = { ...spec, id, exposure: { ...spec.exposure, port, scope: "public" as const } };
  const uid = manifest.uid === null ? null : uidOfPort(port);
  writeFileSync(copy.manifest, manifestText({ ...manifest, spec: own, uid }), { mode: 0o600 });
}

/** Rows come in for hosts that do not exist, which no loop serves, and move when their folders are there. */
async function placeOnHost(db: SQL, modelId: string, copies: readonly SleepingCopy[]): Promise<void> {
  const values = JSON.stringify(copies);
  const placed = db`json_to_recordset(${values}::text::json) as placed (id text, port int)`;
  const host = db`(select host_id from caches where id = ${modelId})`;
  await db.begin(async (tx) => {
    await tx`update caches c set host_id = ${host}, port = placed.port, is_public = true from ${placed} where c.id = placed.id`;
    await tx`update instances i set host_id = ${host}, port = placed.port from ${placed} where i.id = placed.id`;
    await tx`update work w set host_id = ${host} from ${placed} where w.id = placed.id`;
  });
  await db`vacuum analyze`;
}
