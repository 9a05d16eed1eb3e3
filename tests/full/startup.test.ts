// Starts of Pilvi on unusual ground: without its key, without an engine, in a long path, on another store.
import { afterEach, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemPrograms } from "../../src/engines/system-programs.ts";
import { clusterBody, MYSQL } from "../support/pilvi/databases.ts";
import { freshDataDir, pilviEnv, startPilvi, TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { forward } from "../support/pilvi/forwarder.ts";
import { freePort } from "../support/pilvi/ports.ts";
import { freshDatabase } from "../support/engines/postgres.ts";
import { processesAt, runPilvi, spawnPilvi } from "../support/pilvi/program.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = freshDataDir();
  folders.push(folder);
  return folder;
}

function systemHas(pattern: RegExp): boolean {
  return systemPrograms("").some(({ path }) => pattern.test(path));
}

/** Runs `pilvi up`, which must end by itself, with one sentence and no process left. */
async function refusalOf(env: Record<string, string>, dataDir = newFolder()): Promise<string> {
  const ending = await runPilvi(["up"], { ...pilviEnv(dataDir, freePort()), ...env });
  expect(ending.stdout).not.toContain("pilvi ready");
  expect(ending.code).toBe(1);
  await until("nothing is left running", () => processesAt(dataDir).length === 0);
  return ending.stderr.trimEnd();
}

test("a store with sealed secrets needs its key", async () => {
  const pilvi = await startPilvi();
  const cache = await pilvi.createCache();
  await pilvi.stop();
  const keyFile = join(pilvi.dataDir, "key");
  const key = await Bun.file(keyFile).text();
  rmSync(keyFile);
  expect(await refusalOf({}, pilvi.dataDir)).toContain(`The key file ${keyFile} is missing`);
  expect(existsSync(keyFile)).toBe(false);
  writeFileSync(keyFile, "not a key");
  expect(await refusalOf({}, pilvi.dataDir)).toContain("does not hold a key: 32 bytes in base64.");
  writeFileSync(keyFile, Buffer.alloc(32, 1).toString("base64"));
  expect(await refusalOf({}, pilvi.dataDir)).toContain("Put the right one back from your backup.");
  writeFileSync(keyFile, key);
  await pilvi.start();
  expect((await pilvi.untilStatus(cache.id, "available")).attributes.connection).toEqual(
    cache.attributes.connection,
  );
  await pilvi.close();
});

test("a missing engine disables its types and nothing else", async () => {
  const enginesDir = join(newFolder(), "engines");
  mkdirSync(enginesDir);
  const { PILVI_ENGINES_DIR: installed = "" } = pilviEnv("/", 1);
  for (const name of readdirSync(installed)) {
    if (/^(postgres|redis)-/.test(name)) symlinkSync(join(installed, name), join(enginesDir, name));
  }
  // Without apt nothing can be installed.
  const env = { PATH: "/nonexistent", PILVI_ENGINES_DIR: enginesDir };
  const pilvi = await startPilvi({ env });
  const order = clusterBody({ type: MYSQL });
  const refused = await pilvi.api<{ errors?: { type: string[] } }>("POST", "/databases/clusters", order);
  const hasMysql = systemHas(/\/(mariadbd|mysqld)$/);
  expect(refused.status).toBe(hasMysql ? 201 : 422);
  if (!hasMysql) expect(refused.body.errors?.type[0]).toContain("No engine for platform_mysql is installed");
  // Redis does what clients of a Valkey ask of it.
  const valkey = await pilvi.createCache();
  expect(valkey.meta.engine?.name).toBe(systemHas(/\/valkey-server$/) ? "valkey" : "redis");
  const redis = await pilvi.createCache({ type: "hosted_redis", size: "250mb" });
  expect(redis.meta.engine?.name).toBe("redis");
  await pilvi.stop();
  // A start does not retry an installation that has failed.
  const again = spawnPilvi(["up"], pilvi.env);
  await until("it is ready", async () => (await fetch(`${pilvi.url}/readyz`).catch(() => null))?.ok === true);
  again.kill();
  expect(await again.exited).toBe(0);
  const said = await new Response(again.stderr).text();
  expect(said).toMatch(/^Not installed: .*\. Try again with: pilvi engines install\n/);
  await pilvi.close();
});

test("a data directory may have a long path with almost any characters", async () => {
  const dataDir = join(newFolder(), "käyttäjän \"tiedot\" 'täällä' #1%41", "x".repeat(120));
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dataDir, 0o711);
  const pilvi = await startPilvi({ dataDir });
  const cache = await pilvi.createCache();
  const [before] = pilvi.enginePids(cache.id);
  const host = pilvi.pidOf("host");
  if (host === undefined) throw new Error("there is no host");
  process.kill(host, "SIGKILL");
  await until("there is another host", () => ![host, undefined].includes(pilvi.pidOf("host")));
  await pilvi.createCache();
  await pilvi.untilStatus(cache.id, "available");
  expect(pilvi.enginePids(cache.id)).toEqual(before === undefined ? [] : [before]);
  await pilvi.stop();
  await pilvi.start();
  await pilvi.untilStatus(cache.id, "available");
  await pilvi.close();
});

test("the store may be another Postgres", async () => {
  const db = await freshDatabase();
  const { path, database } = db.options as { path: string; database: string };
  await db.close();
  // Only this process can reach the server's socket.
  const forwarder = forward(path);
  const url = `postgres://pilvi@127.0.0.1:${forwarder.port}/${database}`;
  const pilvi = await startPilvi({ env: { PILVI_DATABASE_URL: url } });
  expect(existsSync(join(pilvi.dataDir, "instances", "store"))).toBe(false);
  const cache = await pilvi.createCache();
  await pilvi.stop();
  await pilvi.start();
  await pilvi.untilStatus(cache.id, "available");
  await pilvi.deleteCache(cache.id);
  await pilvi.close();
  forwarder.close();
});

test("the bootstrap token is the current setting, also after an earlier setting", async () => {
  const dataDir = newFolder();
  const tokens = ["first-bootstrap-token", "second-bootstrap-token"] as const;
  for (const token of [tokens[0], tokens[1], tokens[0]]) {
    const pilvi = new TestPilvi(dataDir, freePort(), { PILVI_BOOTSTRAP_TOKEN: token });
    await pilvi.start();
    for (const each of tokens) {
      const { status } = await pilvi.api("GET", "/caches", undefined, { authorization: `Bearer ${each}` });
      expect(status).toBe(each === token ? 200 : 401);
    }
    await pilvi.stop();
  }
});
