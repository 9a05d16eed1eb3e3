// A machine that is lost in the middle of its work, without a stop that would store the last of its logs: everything up to the last
// shipped instant comes back.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { connectPg, createCluster, type ClusterDocument } from "../support/pilvi/databases.ts";
import { freshDataDir, pilviEnv, startPilvi, type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";

const MAIN = resolve(import.meta.dir, "../../src/main.ts");
const ROWS = 500;

const place = freshDataDir();
const [target, remote, key] = ["target", "remote", "key"].map((name) => join(place, name)) as [
  string,
  string,
  string,
];
const port = freePort();
/** The same for each machine, so that the addresses stay. */
const range = pilviEnv("/", port).PILVI_PORT_RANGE ?? "";
/** When each row was acknowledged. */
const acknowledged: number[] = [];
let kept: DatabaseClusterResource;
/** The last instant that Pilvi said it could restore, before the machine was lost. */
let shippedMs: number;

const env = (dataDir: string, folder: string) => ({
  ...pilviEnv(dataDir, port),
  PILVI_PORT_RANGE: range,
  PILVI_BACKUP_TARGETS: folder,
});

beforeAll(async () => {
  const dataDir = freshDataDir();
  const pilvi = await startPilvi({ dataDir, port, env: env(dataDir, target) });
  try {
    await loseInTheMiddle(pilvi);
    copyFileSync(join(dataDir, "key"), key);
  } finally {
    await pilvi.close();
  }
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

/** Writes, and copies the target as it is at some moment of it. */
async function loseInTheMiddle(pilvi: TestPilvi): Promise<void> {
  kept = await createCluster(pilvi, { name: "kept", config: { retention_days: 1, suspend_seconds: 0 } });
  const read = async () =>
    (await pilvi.api<ClusterDocument>("GET", `/databases/clusters/${kept.id}`)).body.data;
  await until("the window begins", async () => (await read()).attributes.supports_pitr === "true");
  const ofStore = join(target, "archives", "store", "backups");
  await until("the store is backed up", () =>
    existsSync(ofStore)
      ? readdirSync(ofStore).some((backup) => existsSync(join(ofStore, backup, "backup.json")))
      : false,
  );
  const client = await connectPg(kept);
  await client.query("create table notes (n int primary key)");
  const loss = new AbortController();
  const writing = (async () => {
    while (!loss.signal.aborted) {
      await client.query(`insert into notes values (${acknowledged.length + 1})`);
      acknowledged.push(Date.now());
    }
  })();
  const latest = async () => Date.parse((await read()).meta.backup?.latest_restore_time ?? "");
  await until("some rows are shipped", async () => {
    shippedMs = await latest();
    return (acknowledged[ROWS] ?? Infinity) < shippedMs;
  });
  const keeper = pilvi.runningPid("keeper");
  process.kill(keeper, "SIGSTOP");
  const { exitCode, stderr } = Bun.spawnSync(["cp", "--archive", target, remote]);
  process.kill(keeper, "SIGCONT");
  if (exitCode !== 0) throw new Error(stderr.toString());
  loss.abort();
  await writing;
  await client.end();
}

test("all that was shipped before the loss is back, and nothing after a gap", async () => {
  const dataDir = freshDataDir();
  copyFileSync(key, join(dataDir, "key"));
  chmodSync(join(dataDir, "key"), 0o600);
  try {
    const restoring = Bun.spawn([process.execPath, MAIN, "restore-all", "--from", remote], {
      env: env(dataDir, remote),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out = "", err = ""] = await Promise.all(
      [restoring.stdout, restoring.stderr].map((each) => new Response(each).text()),
    );
    expect([await restoring.exited, err], out).toEqual([0, ""]);
    console.log(/^Everything is back after \d+\.\d s/m.exec(out)?.[0]);
    const pilvi = await startPilvi({ dataDir, port, env: env(dataDir, remote) });
    const client = await connectPg(kept);
    const { rows } = await client.query<{ n: number }>("select n from notes order by n");
    await client.end();
    await pilvi.stop();
    expect(rows.map(({ n }) => n)).toEqual(rows.map((_, index) => index + 1));
    expect(rows.length).toBeGreaterThanOrEqual(acknowledged.filter((at) => at < shippedMs).length);
    expect(rows.length).toBeGreaterThan(ROWS);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
