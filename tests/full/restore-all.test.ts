// A lost machine: everything comes back in an empty data directory, from the key file and a backup target alone.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Redis } from "ioredis";
import { isLocked } from "../../src/host/os/locks.ts";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { connectPg, createCluster, firstOf, type ClusterDocument } from "../support/pilvi/databases.ts";
import {
  Failpoints,
  freshDataDir,
  pilviEnv,
  startPilvi,
  TestPilvi,
  until,
  type CacheDocument,
} from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";

const MAIN = resolve(import.meta.dir, "../../src/main.ts");

/** Where a restore is killed: between any two of its steps, and while data is unpacked. */
const KILLS = [
  "host.restore.unpacked",
  "restore-all.store",
  "restore-all.rows",
  "restore-all.prepared",
  "reconcile.ensured",
] as const;

let place: string;
let target: string;
let key: string;
let ports: Record<"api" | "range", string>;
let kept: DatabaseClusterResource;
let unkept: DatabaseClusterResource;
let cache: CacheResource;
let emptied: CacheResource;
let token: string;
let authority: string;
const failpoints = new Failpoints();

const env = (dataDir: string) => ({
  ...pilviEnv(dataDir, Number(ports.api)),
  ...failpoints.env,
  PILVI_PORT_RANGE: ports.range,
  PILVI_BACKUP_TARGETS: target,
});

/** A Pilvi with a cluster whose log is kept, a cluster without backups, and two caches; it is lost at the end. */
beforeAll(async () => {
  place = freshDataDir();
  target = join(place, "target");
  key = join(place, "key");
  const port = freePort();
  ports = { api: String(port), range: pilviEnv("/", port).PILVI_PORT_RANGE ?? "" };
  const dataDir = freshDataDir();
  const pilvi = await startPilvi({ dataDir, port, env: env(dataDir) });
  const config = { retention_days: 1 };
  kept = await createCluster(pilvi, { name: "kept", config });
  unkept = await createCluster(pilvi, { name: "unkept" });
  cache = await pilvi.createCache({ name: "saved" });
  emptied = await pilvi.createCache({ name: "unsaved" });
  await pilvi.api("POST", "/websocket-servers", {
    type: "reverb",
    name: "sockets",
    region: "eu-central-1",
    config: {},
  });
  await inCluster(kept, "create table notes as select generate_series(1, 1000) as id");
  await inCache(cache, (client) => client.set("note", "kept"));
  const { body } = await pilvi.api<{ data: { id: string } }>("POST", `/caches/${cache.id}/snapshots`, {
    name: "before",
  });
  const snapshot = await pilvi.api<{ data: { attributes: { status: string } } }>(
    "GET",
    `/cache-snapshots/${body.data.id}?wait=available`,
  );
  expect(snapshot.body.data.attributes.status).toBe("available");
  const read = async () =>
    (await pilvi.api<ClusterDocument>("GET", `/databases/clusters/${kept.id}`)).body.data;
  await until("the window begins", async () => (await read()).attributes.supports_pitr === "true");
  const ofStore = join(target, "archives", "store", "backups");
  const isComplete = (backup: string) => existsSync(join(ofStore, backup, "backup.json"));
  await until("the store is backed up", () => existsSync(ofStore) && readdirSync(ofStore).some(isComplete));
  await inCluster(kept, "insert into notes select generate_series(1001, 1500)");
  // What is written until the end is shipped when Pilvi ends.
  await pilvi.stop();
  token = readFileSync(join(dataDir, "token"), "utf8");
  authority = readFileSync(join(dataDir, "tls", "ca.crt"), "utf8");
  copyFileSync(join(dataDir, "key"), key);
  rmSync(dataDir, { recursive: true, force: true });
});

afterAll(() => {
  failpoints.close();
  rmSync(place, { recursive: true, force: true });
});

async function inCluster(cluster: DatabaseClusterResource, sql: string): Promise<unknown> {
  const client = await connectPg(cluster);
  try {
    return await firstOf(client, sql);
  } finally {
    await client.end();
  }
}

async function inCache<T>({ attributes }: CacheResource, run: (client: Redis) => Promise<T>): Promise<T> {
  const { hostname: host, port, username = "", password = "" } = attributes.connection;
  const client = new Redis({ host, port, username, password, lazyConnect: true });
  try {
    return await run(client);
  } finally {
    client.disconnect();
  }
}

/** A data directory with nothing but a key. */
function newMachine(content = readFileSync(key, "utf8")): string {
  const dataDir = freshDataDir();
  writeFileSync(join(dataDir, "key"), content, { mode: 0o600 });
  return dataDir;
}

function begin(dataDir: string, from = target): Bun.Subprocess<"ignore", "pipe", "pipe"> {
  return Bun.spawn(
    [process.execPath, "--define=PILVI_FAILPOINTS:true", MAIN, "restore-all", "--from", from],
    {
      env: env(dataDir),
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
}

async function restoreAll(
  dataDir: string,
  from = target,
): Promise<{ code: number; out: string; err: string }> {
  const child = begin(dataDir, from);
  const [out, err] = await Promise.all([child.stdout, child.stderr].map((each) => new Response(each).text()));
  return { code: await child.exited, out: out ?? "", err: err ?? "" };
}

/** Everything is as it was before the loss, in a Pilvi that is started in the data directory. */
async function expectAllBack(dataDir: string): Promise<void> {
  const pilvi = await startPilvi({ dataDir, port: Number(ports.api), env: env(dataDir) });
  try {
    expect(await inCluster(kept, "select count(*)::int from notes")).toBe(1500);
    expect(await inCache(cache, (client) => client.get("note"))).toBe("kept");
    expect(await inCache(emptied, (client) => client.get("note"))).toBeNull();
    const statusOf = async (id: string) =>
      (await pilvi.api<ClusterDocument>("GET", `/databases/clusters/${id}`)).body.data.attributes.status;
    expect([await statusOf(kept.id), await statusOf(unkept.id)]).toEqual(["available", "unknown"]);
    const { body } = await pilvi.api<CacheDocument>("GET", `/caches/${cache.id}`);
    expect(body.data.attributes.connection).toEqual(cache.attributes.connection);
    expect(readFileSync(join(dataDir, "token"), "utf8")).toBe(token);
    expect(readFileSync(join(dataDir, "tls", "ca.crt"), "utf8")).toBe(authority);
    // The log goes on in its archive, and the restored machine could be lost as well.
    await inCluster(kept, "delete from notes where id > 1500");
  } finally {
    await pilvi.stop();
  }
}

test("all that was backed up is back in an empty data directory, and backups go on", async () => {
  const dataDir = newMachine();
  try {
    const { code, out, err } = await restoreAll(dataDir);
    expect([code, err]).toEqual([1, ""]);
    expect(out).toMatch(/^Pilvi's own store is back with its data of 20/m);
    expect(out).toMatch(/^kept \(database cluster\) is back with its data of 20/m);
    expect(out).toMatch(/^saved \(cache\) is back with its data of 20/m);
    expect(out).toContain("unsaved has no backup: it comes back empty.");
    expect(out).toContain("unkept has no backup: its data is lost.");
    expect(out).toMatch(/^All but 1 of the resources are back after \d+\.\d s\. /m);
    await expectAllBack(dataDir);
    const again = await restoreAll(dataDir);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining("is not empty")]);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test("what cannot be restored from is refused in a sentence, and nothing is written", async () => {
  const other = Buffer.alloc(32, 7).toString("base64");
  const dataDir = newMachine(other);
  const missing = join(place, "missing");
  try {
    const wrongKey = await restoreAll(dataDir);
    expect([wrongKey.code, wrongKey.err]).toEqual([
      1,
      expect.stringContaining("with another key than that in"),
    ]);
    const noFolder = await restoreAll(dataDir, missing);
    expect([noFolder.code, noFolder.err]).toEqual([1, `The backup target ${missing} is not there.\n`]);
    const noTarget = await restoreAll(dataDir, place);
    expect([noTarget.code, noTarget.err]).toEqual([1, `There are no backups of a Pilvi at ${place}.\n`]);
    rmSync(join(dataDir, "key"));
    const noKey = await restoreAll(dataDir);
    expect([noKey.code, noKey.err]).toEqual([1, expect.stringContaining("There is no key file")]);
    expect(readdirSync(dataDir)).toEqual([]);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

for (const name of KILLS) {
  test(`a restore that is killed at ${name} goes on when it is run again`, async () => {
    const dataDir = newMachine();
    try {
      failpoints.arm(name);
      const killed = begin(dataDir);
      await failpoints.reached();
      killed.kill("SIGKILL");
      await killed.exited;
      failpoints.release();
      await untilProcessesEnd(dataDir);
      const { code, err } = await restoreAll(dataDir);
      expect([code, err]).toEqual([1, ""]);
      await expectAllBack(dataDir);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
}

test("Pilvi does not start in a data directory whose restore has not come to the rows", async () => {
  const dataDir = newMachine();
  try {
    failpoints.arm("restore-all.store");
    const killed = begin(dataDir);
    await failpoints.reached();
    killed.kill("SIGKILL");
    await killed.exited;
    failpoints.release();
    await untilProcessesEnd(dataDir);
    const pilvi = new TestPilvi(dataDir, Number(ports.api), env(dataDir));
    expect(await pilvi.run("up")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("has not ended"),
    });
    const { code, err } = await restoreAll(dataDir);
    expect([code, err]).toEqual([1, ""]);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

/** The processes of a restore that was killed end by themselves; the engines stay. */
async function untilProcessesEnd(dataDir: string): Promise<void> {
  await until("its processes have ended", () =>
    ["host", "keeper", "gateway", "up"].every((name) => !isLocked(join(dataDir, `${name}.lock`))),
  );
}
