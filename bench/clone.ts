// Measures how long the clone of a sleeping cluster of some 200 MB takes, from the request to `available`, beside a copy
// of the same files by `cp -a` with a sync.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { connectMysql, connectPg, deleteCluster, untilCluster } from "../tests/support/pilvi/databases.ts";
import type { ClusterDocument } from "../tests/support/pilvi/databases.ts";
import type { TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import { diskUseOf } from "../src/host/os/disk-use.ts";
import { runBench } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { megabytes, printColumns, printRow, printTarget, printTimes, times } from "./support/report.ts";
import { MYSQL_SLEEPER, POSTGRES_SLEEPER, suspend, type Sleeper, type Sleepy } from "./support/sleepers.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = countOption(10);
/** Rounds at the start that warm both sides up and do not count. */
const WARM_UP = 1;
const TARGET_RATIO = 1.3;
/** Rows of 1 kB, which give a cluster of some 200 MB. */
const ROWS = 100_000;
const MAX_FILES = 100_000;

await runBench(
  `clone: a sleeping cluster of 200 MB, cloned through the API to available, ${ROUNDS} rounds`,
  async ({ pilvi }) => {
    for (const sleeper of [POSTGRES_SLEEPER, MYSQL_SLEEPER]) await measure(pilvi, sleeper);
  },
);

async function measure(pilvi: TestPilvi, sleeper: Sleeper): Promise<void> {
  const source = await sleeper.create(pilvi);
  await fill(pilvi, source);
  await suspend(pilvi, source);
  const data = join(pilvi.dataDir, "instances", source.id, "data");
  const samples = { copied: [] as number[], cloned: [] as number[] };
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const copied = await copy(data, join(pilvi.dataDir, "copy"));
    const cloned = await clone(pilvi, source);
    if (round < 0) continue;
    samples.copied.push(copied);
    samples.cloned.push(cloned);
  }
  console.log(`\n${sleeper.label}`);
  printRow("size on the disk", megabytes((await diskUseOf(data, MAX_FILES)) / 1024));
  printColumns("median", "p99", "x median", "x p99");
  printTimes("cp -a and sync of the same files (baseline)", samples.copied);
  printTimes("clone: POST sent to available", samples.cloned, samples.copied);
  const ratio = median(samples.cloned) / median(samples.copied);
  printTarget(`${sleeper.label}: median`, ratio, TARGET_RATIO, times);
  await deleteCluster(pilvi, source.id);
}

/** Random digits, which no file system and no engine makes smaller. */
async function fill(pilvi: TestPilvi, { id, place }: Sleepy): Promise<void> {
  const cluster = await untilCluster(pilvi, id, "available");
  if (!("hostname" in place)) throw new Error("the cluster has no port");
  const table = "create table bulk (id int primary key, v text not null)";
  if (cluster.attributes.connection.protocol === "mysql") {
    const client = await connectMysql(cluster);
    await client.query(table);
    await client.query(`insert into bulk select seq, repeat(concat(md5(rand())), 32) from seq_1_to_${ROWS}`);
    await client.end();
    return;
  }
  const client = await connectPg(cluster);
  // Left uncompressed, so that the size is that of the rows.
  await client.query(`${table}; alter table bulk alter v set storage plain`);
  await client.query(
    `insert into bulk select n, repeat(md5(random()::text), 32) from generate_series(1, ${ROWS}) n`,
  );
  await client.query("checkpoint").catch(() => undefined);
  await client.end();
}

async function copy(from: string, to: string): Promise<number> {
  const startedAt = performance.now();
  await run(["cp", "-a", from, to]);
  await run(["sync", "--file-system", to]);
  const ms = performance.now() - startedAt;
  rmSync(to, { recursive: true });
  await run(["sync", "--file-system", from]);
  return ms;
}

async function run(command: string[]): Promise<void> {
  const code = await Bun.spawn(command, { stdio: ["ignore", "ignore", "inherit"] }).exited;
  if (code !== 0) throw new Error(`${command.join(" ")}: ${code}`);
}

/** @returns milliseconds from the request to the answer that says `available`, which comes after a login. */
async function clone(pilvi: TestPilvi, { id }: Sleepy): Promise<number> {
  const startedAt = performance.now();
  const { status, body } = await pilvi.api<ClusterDocument>("POST", `/databases/clusters/${id}/clone`, {
    name: "clone",
  });
  if (status !== 201) throw new Error(`no clone: ${status} ${JSON.stringify(body)}`);
  await untilCluster(pilvi, body.data.id, "available");
  const ms = performance.now() - startedAt;
  await deleteCluster(pilvi, body.data.id);
  return ms;
}
