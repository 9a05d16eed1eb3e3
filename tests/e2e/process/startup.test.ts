// How Pilvi starts, refuses to start, and starts again.
import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { loadConfig } from "../../../src/config.ts";
import { systemPrograms } from "../../../src/engines/system-programs.ts";
import { clusterBody, MYSQL } from "../../support/pilvi/databases.ts";
import { freshDataDir, pilviEnv, startPilvi, TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { freePort } from "../../support/pilvi/ports.ts";
import { freshDatabase } from "../../support/engines/postgres.ts";
import { IS_ROOT, processesAt, runPilvi, spawnPilvi } from "../../support/pilvi/program.ts";

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

describe("Pilvi refuses to start, with one sentence,", () => {
  test("on a port in use", async () => {
    const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const said = await refusalOf({ PILVI_PORT: String(taken.port) });
    taken.stop(true);
    expect(said).toBe(
      `Port ${taken.port} on 127.0.0.1 is in use. Stop what uses it, or set PILVI_PORT to another one.`,
    );
  });

  test("when its data directory cannot be created", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    expect(await refusalOf({ PILVI_DATA_DIR: file })).toBe(
      `The data directory ${file} cannot be used: a file is in its place. Set PILVI_DATA_DIR to another one.`,
    );
    expect(await refusalOf({ PILVI_DATA_DIR: "/proc/pilvi" })).toStartWith(
      "The data directory /proc/pilvi cannot be used: ",
    );
  });

  test("when users of engines cannot reach the data directory, which matters to root only", async () => {
    const closed = join(newFolder(), "closed");
    mkdirSync(closed, { mode: 0o700 });
    const dataDir = join(closed, "data");
    if (!IS_ROOT) return await (await startPilvi({ dataDir })).close();
    const said = await refusalOf({}, dataDir);
    expect(said).toContain(`because ${closed} is closed to them`);
    expect(said).toEndWith(`run: chmod o+x ${closed}`);
  });

  test("when users of engines cannot reach the engines, which matters to root only", async () => {
    const closed = join(newFolder(), "closed");
    mkdirSync(closed, { mode: 0o700 });
    const env = { PILVI_ENGINES_DIR: join(closed, "engines") };
    symlinkSync(loadConfig(process.env).enginesDir, env.PILVI_ENGINES_DIR);
    if (!IS_ROOT) return await (await startPilvi({ env })).close();
    const said = await refusalOf(env);
    expect(said).toContain(`because ${closed} is closed to them`);
    expect(said).toEndWith(`run: chmod o+x ${closed}`);
  });

  test("while another Pilvi holds the data directory", async () => {
    const pilvi = await startPilvi();
    const second = await runPilvi(["up"], pilviEnv(pilvi.dataDir, freePort()));
    expect(second).toEqual({
      code: 1,
      stdout: "",
      stderr: `Another Pilvi already runs on the data directory ${pilvi.dataDir}.\n`,
    });
    expect((await pilvi.api("GET", "/caches")).status).toBe(200);
    await pilvi.close();
  });

  test("over several wrong settings, naming all of them", async () => {
    const said = await refusalOf({
      PILVI_PORT: "x",
      PILVI_HOST: "everywhere",
      PILVI_BIND: "0.0.0.0",
      PILVI_TLS_KEY: "/tmp/key",
      PILVI_PORT_RANGE: "9-1",
      PILVI_INSECURE: "yes",
      PILVI_KEY_FILE: "/tmp/really?",
      PILVI_QUOTA_RESOURCES: "-1",
      PILVI_QUOTA_MEMORY: "much",
    });
    expect(said.split("\n")[0]).toBe("10 settings are wrong:");
    const names = ["PORT", "HOST", "BIND", "TLS_CERT", "PORT_RANGE", "INSECURE", "KEY_FILE"];
    for (const name of [...names, "QUOTA_RESOURCES", "QUOTA_MEMORY"]) {
      expect(said).toMatch(new RegExp(`^ {2}PILVI_${name} `, "m"));
    }
  });

  test("over TLS files that cannot be read or are invalid", async () => {
    const missing = join(newFolder(), "missing.pem");
    const text = join(newFolder(), "text.pem");
    writeFileSync(text, "hello");
    expect(await refusalOf({ PILVI_TLS_CERT: missing, PILVI_TLS_KEY: text })).toStartWith(
      `PILVI_TLS_CERT names the file ${missing}, which cannot be read: `,
    );
    expect(await refusalOf({ PILVI_TLS_CERT: text, PILVI_TLS_KEY: text })).toBe(
      `PILVI_TLS_CERT names the file ${text}, which holds no certificate in the PEM format.`,
    );
  });

  test("without a Postgres, and when none can be installed", async () => {
    const engines = join(newFolder(), "engines");
    writeFileSync(engines, "");
    const said = await refusalOf({ PILVI_ENGINES_DIR: engines });
    expect(said).toStartWith(`Engines cannot be installed in ${engines}: `);
    expect(said).not.toContain("\n");
  });

  test("over a store that cannot be reached, without showing the password", async () => {
    const url = "postgres://pilvi:not-to-be-seen@127.0.0.1:1/pilvi";
    const said = await refusalOf({ PILVI_DATABASE_URL: url });
    expect(said).toStartWith("The Postgres that PILVI_DATABASE_URL names cannot be used: ");
    expect(said).not.toContain("not-to-be-seen");
    expect(await refusalOf({ PILVI_DATABASE_URL: "mysql://127.0.0.1/pilvi" })).toBe(
      "PILVI_DATABASE_URL must be a URL that begins with postgres://.",
    );
  });
});

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

test("a second start brings every resource back", async () => {
  const pilvi = await startPilvi();
  const cache = await pilvi.createCache();
  await pilvi.stop("SIGINT");
  expect(processesAt(pilvi.dataDir)).toEqual([]);
  await pilvi.start();
  const after = await pilvi.untilStatus(cache.id, "available");
  expect(after.attributes.connection).toEqual(cache.attributes.connection);
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

/** Listens on a port of this machine and forwards to a unix socket. */
function forward(socketPath: string): { port: number; close(): void } {
  const server = createServer((from) => {
    const to = connect(socketPath);
    from.pipe(to).pipe(from);
    for (const socket of [from, to]) socket.on("error", () => [from, to].forEach((each) => each.destroy()));
  }).listen(0, "127.0.0.1");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it does not listen");
  return { port: address.port, close: () => void server.close() };
}

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
