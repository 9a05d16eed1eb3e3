// An engine that lacks security fixes is reported, and a better engine replaces it at the next start, with the data.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { enginesInStore, NOTE_FILE } from "../../../src/engines/store-folder.ts";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import { freshDataDir, pilviEnv, startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { commandLine } from "../../support/pilvi/processes.ts";

const FORMER = "8.0.1";
const NOTICE = /^These engines lack security fixes: .*\bvalkey 8\.0\.1\b/m;
const { PILVI_ENGINES_DIR: installed = "" } = pilviEnv("/", 1);
const valkey = enginesInStore(installed).find(
  ({ name, package: made }) => name === "valkey" && made !== undefined,
);
const home = freshDataDir();
const enginesDir = join(home, "engines");
let pilvi: TestPilvi;

beforeAll(async () => {
  if (valkey === undefined) throw new Error("there is no Valkey out of a package: pilvi engines install");
  mkdirSync(enginesDir, { mode: 0o755 });
  for (const name of readdirSync(installed).filter((folder) => folder.startsWith("postgres-"))) {
    symlinkSync(join(installed, name), join(enginesDir, name));
  }
  addValkey(`valkey-${FORMER}`, FORMER);
  // Without apt no other engine is installed.
  pilvi = await startPilvi({ env: { PATH: "/nonexistent", PILVI_ENGINES_DIR: enginesDir } });
});

afterAll(async () => {
  await pilvi.close();
  rmSync(home, { recursive: true });
});

/** The same program, whose version comes from the note alone. */
function addValkey(folder: string, version?: string): void {
  const copy = join(enginesDir, folder);
  Bun.spawnSync(["cp", "-a", valkey?.home ?? "", copy]);
  if (version === undefined) return;
  const { package: made, ...note } = JSON.parse(readFileSync(join(copy, NOTE_FILE), "utf8"));
  expect(made).toBeDefined();
  writeFileSync(join(copy, NOTE_FILE), JSON.stringify({ ...note, version }));
}

function clientOf({ attributes }: CacheResource): Redis {
  const { hostname: host, port, username = "", password = "" } = attributes.connection;
  return new Redis({ host, port, username, password, retryStrategy: null as never });
}

async function engineOf(id: string) {
  const { body } = await pilvi.api<{ data: CacheResource }>("GET", `/caches/${id}`);
  return body.data.meta.engine;
}

test("a cache keeps its running engine, and moves to a better engine at its next start", async () => {
  const cache = await pilvi.createCache({ uses_hibernation: true });
  const { id } = cache;
  expect(cache.meta.engine).toMatchObject({ name: "valkey", version: FORMER });
  expect(cache.meta.engine?.warning).toContain(`Valkey ${FORMER} lacks security fixes`);
  await until("the start names the engine", () => NOTICE.test(pilvi.log()));
  const { stdout } = await pilvi.run("doctor");
  expect(stdout).toContain(`: Valkey ${FORMER} lacks security fixes of `);
  const client = clientOf(cache);
  await client.set("greeting", "moi");
  client.disconnect();

  // A kill leaves the engine running, for the next start to adopt.
  await pilvi.crash();
  await until("everything but the engine has ended", () => pilvi.enginePids(id).length === 1);
  addValkey("valkey-better");
  const [pid = 0] = pilvi.enginePids(id);
  await pilvi.start();
  await pilvi.untilStatus(id, "available");
  expect(pilvi.enginePids(id)).toEqual([pid]);
  expect(await engineOf(id)).toMatchObject({ version: FORMER, warning: expect.any(String) });

  await until("it sleeps", async () => (await pilvi.api("POST", `/caches/${id}/suspend`)).status === 200);
  const again = clientOf(cache);
  expect(await again.get("greeting")).toBe("moi");
  again.disconnect();
  await until("the other version is shown", async () => (await engineOf(id))?.version === valkey?.version);
  expect(await engineOf(id)).toEqual({ name: "valkey", version: valkey?.version ?? "", warning: null });
  expect(commandLine(pilvi.enginePids(id)[0] ?? 0).join(" ")).toContain(join(enginesDir, "valkey-better"));
});
