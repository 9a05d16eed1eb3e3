// A lost machine whose backups are in a bucket: everything comes back from it and the key file alone, also after a kill.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Redis } from "ioredis";
import { isLocked } from "../../src/host/os/locks.ts";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { connectPg, createCluster, firstOf, type ClusterDocument } from "../support/pilvi/databases.ts";
import { LostClusters } from "../support/pilvi/lost-clusters.ts";
import { Failpoints, freshDataDir, pilviEnv, startPilvi, until } from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";
import { S3Server } from "../support/s3/s3-server.ts";

const MAIN = resolve(import.meta.dir, "../../src/main.ts");
const BUCKET = "s3://backups/pilvi";
const OF_STORE = /^pilvi\/archives\/store\/backups\/[^/]+\/backup\.json$/;

const server = new S3Server().start();
const failpoints = new Failpoints();
const port = freePort();
/** The same for each machine, so that the addresses stay. */
const range = pilviEnv("/", port).PILVI_PORT_RANGE ?? "";
const key = join(freshDataDir(), "key");
/** What was in the bucket when the machine was lost. */
let objects: Map<string, Uint8Array>;
let kept: DatabaseClusterResource;
let cache: CacheResource;
let others: LostClusters;

const env = (dataDir: string) => ({
  ...pilviEnv(dataDir, port),
  ...failpoints.env,
  PILVI_PORT_RANGE: range,
  PILVI_BACKUP_TARGETS: BUCKET,
  PILVI_S3_ENDPOINT: server.endpoint,
  PILVI_S3_REGION: "eu-central-1",
  PILVI_S3_ACCESS_KEY_ID: server.credentials.accessKeyId,
  PILVI_S3_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
});

beforeAll(async () => {
  const dataDir = freshDataDir();
  const pilvi = await startPilvi({ dataDir, port, env: env(dataDir) });
  kept = await createCluster(pilvi, { name: "kept", config: { retention_days: 1 } });
  cache = await pilvi.createCache({ name: "saved" });
  await inCluster("create table notes as select generate_series(1, 1000) as id");
  await inCache((client) => client.set("note", "kept"));
  const { body } = await pilvi.api<{ data: { id: string } }>("POST", `/caches/${cache.id}/snapshots`, {
    name: "before",
  });
  await pilvi.api("GET", `/cache-snapshots/${body.data.id}?wait=available`);
  others = await LostClusters.make(pilvi);
  const read = async () =>
    (await pilvi.api<ClusterDocument>("GET", `/databases/clusters/${kept.id}`)).body.data;
  await until("the window begins", async () => (await read()).attributes.supports_pitr === "true");
  await until("the store is backed up", () => [...server.objects.keys()].some((name) => OF_STORE.test(name)));
  await inCluster("insert into notes select generate_series(1001, 1500)");
  await others.write();
  // What is written until the end is stored when Pilvi ends.
  await pilvi.stop();
  copyFileSync(join(dataDir, "key"), key);
  rmSync(dataDir, { recursive: true, force: true });
  objects = new Map(server.objects);
}, 400_000);

beforeEach(() => {
  server.objects.clear();
  for (const [name, bytes] of objects) server.objects.set(name, bytes);
});

afterAll(async () => {
  failpoints.close();
  await server.stop();
  rmSync(resolve(key, ".."), { recursive: true, force: true });
});

async function inCluster(sql: string): Promise<unknown> {
  const client = await connectPg(kept);
  try {
    return await firstOf(client, sql);
  } finally {
    await client.end();
  }
}

async function inCache<T>(run: (client: Redis) => Promise<T>): Promise<T> {
  const { hostname: host, port: own, username = "", password = "" } = cache.attributes.connection;
  const client = new Redis({ host, port: own, username, password, lazyConnect: true });
  try {
    return await run(client);
  } finally {
    client.disconnect();
  }
}

function begin(dataDir: string): Bun.Subprocess<"ignore", "pipe", "pipe"> {
  const argv = [process.execPath, "--define=PILVI_FAILPOINTS:true", MAIN, "restore-all", "--from", BUCKET];
  return Bun.spawn(argv, { env: env(dataDir), stdio: ["ignore", "pipe", "pipe"] });
}

/** Begins a restore, and kills it when the first resource is back. */
async function killedInBetween(dataDir: string): Promise<void> {
  failpoints.arm("reconcile.ensured");
  const killed = begin(dataDir);
  await failpoints.reached();
  killed.kill("SIGKILL");
  await killed.exited;
  failpoints.release();
  await until("its processes have ended", () =>
    ["host", "keeper", "gateway", "up"].every((name) => !isLocked(join(dataDir, `${name}.lock`))),
  );
}

for (const isKilled of [true, false]) {
  test(`everything is back from a bucket alone${isKilled ? ", also after a kill" : ""}`, async () => {
    const dataDir = freshDataDir();
    writeFileSync(join(dataDir, "key"), readFileSync(key), { mode: 0o600 });
    if (isKilled) await killedInBetween(dataDir);
    const restoring = begin(dataDir);
    const [out = "", err = ""] = await Promise.all(
      [restoring.stdout, restoring.stderr].map((each) => new Response(each).text()),
    );
    expect([await restoring.exited, err], out).toEqual([0, ""]);
    console.log(/^Everything is back after \d+\.\d s/m.exec(out)?.[0]);
    const pilvi = await startPilvi({ dataDir, port, env: env(dataDir) });
    try {
      expect(await inCluster("select count(*)::int from notes")).toBe(1500);
      expect(await inCache((client) => client.get("note"))).toBe("kept");
      await others.expectBack(pilvi);
    } finally {
      await pilvi.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }, 400_000);
}
