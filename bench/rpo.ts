// Measures what a lost disk takes: the archive of a Postgres under load is frozen at random instants, and each of these
// archives is restored to its latest state. The figure is the age of the first acknowledged commit that is not there.
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backup } from "../src/engines/postgres/backup/index.ts";
import type { Keeper } from "../src/keeper/keeper.ts";
import { freshFolder, keeperIn, removeFolder } from "../src/keeper/test-support.ts";
import {
  backUpHot,
  cleanUp,
  Cluster,
  engines,
  type StoredBackup,
} from "../tests/support/engines/postgres-cluster.ts";
import { Restore } from "../tests/support/engines/postgres-restore.ts";
import type { InstalledEngine } from "../src/engines/installed-engine.ts";
import { CannotMeasure, runWithoutPilvi } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { milliseconds, printColumns, printRow, printTarget } from "./support/report.ts";
import { median, percentile } from "./support/statistics.ts";

const LOSSES = countOption(20);
const ID = "a";
const BACKUP = "base";
const WRITERS = 3;
/** Between two commits of a writer, on average. */
const PAUSE_MS = 30;
const [SHORTEST_MS, LONGEST_MS] = [500, 3_500];
const TARGET_MS = 1_500;

/** A commit that the server acknowledged to its client, with the time of the answer. */
interface Acknowledged {
  id: number;
  at: number;
}

/** The archive at the moment at which all else was lost. */
interface Loss {
  folder: string;
  at: number;
  /** How many commits were acknowledged by then. */
  acknowledged: number;
}

await runWithoutPilvi(`rpo: a disk lost ${LOSSES} times under load`, async ({ atEnd }) => {
  atEnd(cleanUp);
  const [, installed] = (await engines())[0] ?? [];
  if (installed === undefined) throw new CannotMeasure("There is no Postgres. Run: pilvi engines install");
  const folder = freshFolder("a");
  atEnd(() => removeFolder(folder));
  const cluster = await Cluster.start(installed);
  const keeper = keeperIn(folder);
  const base = await begin(cluster, keeper);
  const acknowledged: Acknowledged[] = [];
  const losses = await loseUnderLoad(cluster, folder, acknowledged);
  await keeper.close();
  await cluster.kill();
  const ages: number[] = [];
  for (const loss of losses) {
    const there = await restored(installed, base, loss.folder);
    const lost = acknowledged.slice(0, loss.acknowledged).find(({ id }) => !there.has(id));
    ages.push(lost === undefined ? 0 : loss.at - lost.at);
  }
  printColumns("median", "worst");
  const worst = percentile(ages, 100);
  printRow("age of the first lost commit", milliseconds(median(ages)), milliseconds(worst));
  printRow("commits acknowledged", String(acknowledged.length));
  printTarget("worst age of the first lost commit", worst, TARGET_MS, milliseconds);
});

/** Ships the log from now on, with a backup to begin at. */
async function begin(cluster: Cluster, keeper: Keeper): Promise<StoredBackup> {
  await cluster.sql("create table log (id int, pad text)");
  await cluster.sql("grant all on log to app");
  keeper.start();
  await keeper.loaded();
  const { dataDir } = cluster;
  const log = {
    folder: join(dataDir, "pg_wal"),
    isAwake: true,
    segmentBytes: backup.log?.segmentBytes(dataDir) ?? 0,
  };
  const base = await backUpHot(cluster);
  await keeper.archives.announce(ID, { engine: base.facts.engine, log });
  // The stream of the backup stays in a file, which no loss takes.
  await keeper.archives.store(ID, BACKUP, new Blob(["a copy"]).stream());
  await keeper.archives.complete(ID, BACKUP, base.facts);
  await keeper.archives.flush(ID);
  return base;
}

/** Copies the archive at random instants. The keeper is of this process, so it does nothing while a copy is made. */
async function loseUnderLoad(
  cluster: Cluster,
  folder: string,
  acknowledged: Acknowledged[],
): Promise<Loss[]> {
  const losses: Loss[] = [];
  const writer = async () => {
    const db = cluster.client();
    while (losses.length < LOSSES) {
      const id = (next += 1);
      await db`insert into log (id, pad) values (${id}, repeat('x', 200))`;
      acknowledged.push({ id, at: Date.now() });
      await Bun.sleep(Math.random() * 2 * PAUSE_MS);
    }
    await db.close();
  };
  let next = 0;
  const loser = async () => {
    while (losses.length < LOSSES) {
      await Bun.sleep(SHORTEST_MS + Math.random() * (LONGEST_MS - SHORTEST_MS));
      const lost = freshFolder();
      const at = Date.now();
      cpSync(join(folder, "a"), join(lost, "a"), { recursive: true });
      losses.push({ folder: lost, at, acknowledged: acknowledged.length });
    }
  };
  await Promise.all([loser(), ...Array.from({ length: WRITERS }, writer)]);
  return losses;
}

/** Restores the latest state of an archive. @returns the commits in it. */
async function restored(
  installed: InstalledEngine,
  base: StoredBackup,
  folder: string,
): Promise<Set<number>> {
  const keeper = keeperIn(folder);
  keeper.start();
  await keeper.loaded();
  const { recovery, segments } = await keeper.archives.plan(ID, { latest: true });
  const restore = await Restore.unpack(installed, base);
  const log = backup.log?.folder(restore.dataDir) ?? "";
  for (const { name } of segments) writeFileSync(join(log, name), await keeper.archives.segment(ID, name));
  await keeper.close();
  removeFolder(folder);
  await restore.recover(recovery);
  const copy = await restore.start();
  const rows = await copy.sql<{ id: number }>("select id from log");
  await copy.kill();
  rmSync(restore.folder, { recursive: true, force: true });
  return new Set(rows.map(({ id }) => id));
}
