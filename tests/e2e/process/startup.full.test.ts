// How Pilvi refuses to start, and starts again; tests/full starts it on unusual ground.
import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../src/config.ts";
import { freshDataDir, pilviEnv, startPilvi, until } from "../../support/pilvi/pilvi.ts";
import { freePort } from "../../support/pilvi/ports.ts";
import { IS_ROOT, processesAt, runPilvi } from "../../support/pilvi/program.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = freshDataDir();
  folders.push(folder);
  return folder;
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
