// The commands that talk to a running Pilvi, and the commands that maintain it, as people type them.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import { openStore } from "../../crash/inspection.ts";
import { freshDataDir, pilviEnv, startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { freePort } from "../../support/pilvi/ports.ts";
import { IS_ROOT, runPilvi, spawnPilvi, type Ending } from "../../support/pilvi/program.ts";

const HOUR_MS = 60 * 60_000;

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startPilvi();
});

const folders: string[] = [];

afterAll(async () => {
  await pilvi.close();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = freshDataDir();
  folders.push(folder);
  return folder;
}

async function succeed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await pilvi.run(...args);
  if (code !== 0) throw new Error(`${args.join(" ")}: ${code} ${stderr}`);
  return stdout;
}

function withToken(token: string, ...args: string[]): Promise<Ending> {
  return runPilvi(args, { ...pilvi.env, PILVI_TOKEN: token });
}

describe("pilvi caches", () => {
  test("creates, shows, lists and deletes", async () => {
    const details = await succeed("caches", "create", "sessions", "--wait");
    expect(details).toMatch(/^Status +available$/m);
    const url = /^URL +(\S+)$/m.exec(details)?.[1] ?? "";
    const client = new Bun.RedisClient(url);
    expect(await client.ping()).toBe("PONG");
    client.close();

    const shown = JSON.parse(await succeed("caches", "show", "sessions", "--json")) as {
      data: CacheResource;
    };
    expect(await succeed("caches", "show", shown.data.id)).toContain(url);
    expect(await succeed("caches", "list")).toMatch(/^NAME .*\nsessions +available /);
    const listed = JSON.parse(await succeed("caches", "list", "--json")) as { data: CacheResource[] };
    expect(listed.data.map(({ id }) => id)).toEqual([shown.data.id]);

    const unconfirmed = await pilvi.run("caches", "delete", "sessions");
    expect(unconfirmed.code).toBe(2);
    await succeed("caches", "delete", "sessions", "--yes", "--wait");
    expect((await pilvi.run("caches", "show", shown.data.id)).code).toBe(1);
    expect(await succeed("caches", "list")).toStartWith("There are no caches yet.");
  });

  test("prints nothing but JSON on stdout when asked to", async () => {
    const text = await succeed("caches", "create", "machine", "--wait", "--json");
    const created = JSON.parse(text) as { data: CacheResource };
    expect(created.data.attributes.status).toBe("available");
    await succeed("caches", "delete", created.data.id, "--yes", "--wait");
  });

  test("lists the types", async () => {
    expect(await succeed("caches", "types")).toContain("platform_valkey");
  });

  test.each([
    [["caches", "create", "x"], 1, "name: "],
    [["caches", "create", "sessions", "--size", "huge"], 1, "size: "],
    [["caches", "show", "nobody"], 1, "nobody"],
    [["caches", "show"], 2, "missing required argument"],
    [["caches", "destroy"], 2, "unknown command"],
    [["caches", "list", "--colour"], 2, "unknown option"],
  ])("%j ends with %i", async (args, code, says) => {
    const ending = await pilvi.run(...args);
    expect(ending.stderr).toContain(says);
    expect(ending.stdout).toBe("");
    expect(ending.code).toBe(code);
  });

  test("Ctrl-C ends the wait, not the work", async () => {
    const { id } = await pilvi.createCache();
    // Without its host nothing becomes available, so the wait does not end by itself.
    const host = pilvi.runningPid("host");
    process.kill(host, "SIGSTOP");
    await pilvi.api("DELETE", `/caches/${id}`);
    const child = spawnPilvi(["caches", "delete", id, "--yes", "--wait"], { ...pilvi.env, PILVI_TOKEN: "" });
    const reader = child.stderr.getReader();
    await reader.read();
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    const last = await reader.read();
    expect(new TextDecoder().decode(last.value)).toContain("Interrupted.");
    process.kill(host, "SIGCONT");
    await until("it is gone", async () => (await pilvi.api("GET", `/caches/${id}`)).status === 404);
  });
});

describe("pilvi token", () => {
  test("creates a token that works until it is revoked", async () => {
    const token = (await succeed("token", "create", "--name", "laptop")).trim();
    expect((await withToken(token, "caches", "list")).code).toBe(0);
    const listed = await succeed("token", "list");
    expect(listed).toMatch(/^NAME +ORGANIZATION +ABILITIES +STATE +ID\n/);
    expect(listed).toMatch(/^laptop +default +\* +does not expire +token-/m);
    expect(listed).not.toContain(token);
    await succeed("token", "revoke", "laptop");
    const after = await withToken(token, "caches", "list");
    expect(after.code).toBe(1);
    expect(after.stderr).toStartWith("Pilvi does not accept this token");
    expect(await succeed("token", "list")).toMatch(/laptop +default +\* +revoked /);
    expect((await pilvi.run("token", "revoke", "laptop")).code).toBe(1);
  });

  test("a token expires", async () => {
    const at = new Date(Date.now() + HOUR_MS);
    const token = (await succeed("token", "create", "--name", "brief", "--expires", at.toISOString())).trim();
    const headers = { authorization: `Bearer ${token}` };
    expect((await pilvi.api("GET", "/caches", undefined, headers)).status).toBe(200);
    const store = await openStore(pilvi);
    // However slow the machine is, the token is valid before, and not after.
    const made = await store`
      update tokens set expires_at = now() where name = 'brief' and expires_at = ${at} returning id`;
    await store.close();
    expect(made).toHaveLength(1);
    expect((await pilvi.api("GET", "/caches", undefined, headers)).status).toBe(401);
    expect((await pilvi.run("token", "create", "--name", "old", "--expires", "2001-01-01")).code).toBe(1);
    expect((await pilvi.run("token", "create", "--name", "odd", "--expires", "soon")).code).toBe(2);
  });

  test("a token can do what its abilities allow, and see no more", async () => {
    const cache = await pilvi.createCache({ name: "abilities" });
    const made = JSON.parse(
      await succeed("token", "create", "--name", "reader", "--abilities", "caches:read", "--json"),
    ) as { token: string };
    const shown = await withToken(made.token, "caches", "show", cache.id);
    expect(shown.stdout).toContain("hidden");
    expect(shown.stdout).not.toContain(cache.attributes.connection.password ?? "no password");
    const headers = { authorization: `Bearer ${made.token}` };
    expect((await pilvi.api("DELETE", `/caches/${cache.id}`, undefined, headers)).status).toBe(403);
    const refused = await withToken(made.token, "caches", "create", "more");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("does not have the ability");
    const unknown = await pilvi.run("token", "create", "--name", "x", "--abilities", "caches:eat");
    expect(unknown.stderr).toContain("caches:eat");
    expect(unknown.code).toBe(1);
    await pilvi.deleteCache(cache.id);
  });

  test("another organization's cache does not exist", async () => {
    const cache = await pilvi.createCache({ name: "ours" });
    const token = (await succeed("token", "create", "--name", "other", "--organization", "other")).trim();
    const headers = { authorization: `Bearer ${token}` };
    for (const method of ["GET", "DELETE"]) {
      expect((await pilvi.api(method, `/caches/${cache.id}`, undefined, headers)).status).toBe(404);
    }
    expect((await withToken(token, "caches", "list")).stdout).toStartWith("There are no caches yet.");
    expect((await withToken(token, "caches", "show", "ours")).code).toBe(1);
    await pilvi.deleteCache(cache.id);
  });
});

describe("without a running Pilvi", () => {
  test("each command says so in one sentence", async () => {
    const env = pilviEnv(newFolder(), freePort());
    const noToken = await runPilvi(["caches", "list"], env);
    expect(noToken).toMatchObject({ code: 1, stdout: "" });
    expect(noToken.stderr).toStartWith("There is no token. ");
    const silent = await runPilvi(["caches", "list"], { ...env, PILVI_TOKEN: "some-token" });
    expect(silent.stderr).toBe(
      `Pilvi does not answer at http://127.0.0.1:${env.PILVI_PORT}. Start it with: npm start\n`,
    );
    const tokens = await runPilvi(["token", "list"], env);
    expect(tokens).toMatchObject({ code: 1, stdout: "" });
    expect(tokens.stderr).toContain("Start one with: npm start");
  });

  test("a wrong token and an unreadable token give different errors", async () => {
    const wrong = await withToken("no-such-token", "caches", "list");
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toStartWith("Pilvi does not accept this token");
    const dataDir = newFolder();
    // Root may read any file, but cannot read a folder as a file.
    if (IS_ROOT) mkdirSync(join(dataDir, "token"));
    else writeFileSync(join(dataDir, "token"), "secret", { mode: 0o000 });
    const unreadable = await runPilvi(["caches", "list"], pilviEnv(dataDir, freePort()));
    expect(unreadable.code).toBe(1);
    expect(unreadable.stderr).toStartWith(`The token in ${join(dataDir, "token")} `);
  });
});

describe("pilvi doctor", () => {
  test("finds no fault with a running Pilvi", async () => {
    const { code, stdout } = await pilvi.run("doctor");
    expect(stdout).toContain(`ok    Pilvi answers at ${pilvi.url}`);
    expect(stdout).not.toMatch(/^fail/m);
    expect(stdout).toMatch(
      IS_ROOT
        ? /^ok +the kernel refuses the port of a cache/m
        : /^warn +while a cache that listens by itself/m,
    );
    expect(stdout).toMatch(
      IS_ROOT
        ? /^ok +the kernel refuses the ports of PILVI_PORT_RANGE/m
        : /^warn +applications and builds can take all ports of PILVI_PORT_RANGE/m,
    );
    expect(/^warn +while a WebSocket cluster starts/m.test(stdout)).toBe(!IS_ROOT);
    expect(code).toBe(0);
  });

  test("names what keeps Pilvi from working", async () => {
    const folder = newFolder();
    chmodSync(folder, 0o700);
    const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const env = { ...pilviEnv(join(folder, "data"), taken.port), PILVI_ENGINES_DIR: join(folder, "engines") };
    const { code, stdout } = await runPilvi(["doctor"], env);
    taken.stop(true);
    expect(code).toBe(1);
    expect(stdout).toContain(`fail  API port 127.0.0.1:${taken.port} is taken by another program`);
    expect(stdout).toContain("fail  no Postgres for Pilvi's own data");
    if (IS_ROOT) expect(stdout).toContain(`Run \`chmod o+x ${folder}\``);
  });
});

test("pilvi engines install does nothing when every engine is installed", async () => {
  expect(await pilvi.run("engines", "install")).toEqual({ code: 0, stdout: "", stderr: "" });
});
