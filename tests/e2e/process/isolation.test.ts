// Isolation of instances from each other, and the places where secrets may be found.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { KEEPER_ACCOUNT } from "../../../src/host/os/accounts.ts";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import { startPilvi, TOKEN, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { IS_ROOT, procText, runCommand } from "../../support/pilvi/program.ts";

let pilvi: TestPilvi;
let first: CacheResource;
let second: CacheResource;

beforeAll(async () => {
  pilvi = await startPilvi();
  [first, second] = await Promise.all([
    pilvi.createCache({ name: "first" }),
    pilvi.createCache({ name: "second", type: "hosted_redis", size: "250mb" }),
  ]);
});

afterAll(async () => {
  await pilvi.close();
});

function pidOf(id: string): number {
  const [pid] = pilvi.enginePids(id);
  if (pid === undefined) throw new Error(`${id} does not run`);
  return pid;
}

/** The numbers of a line in /proc/PID/status. */
function statusOf(pid: number, field: string): number[] {
  const line = new RegExp(`^${field}:(.*)$`, "m").exec(procText(pid, "status"))?.[1] ?? "";
  return line.trim().split(/\s+/).filter(Boolean).map(Number);
}

function uidOf(pid: number): number {
  return statusOf(pid, "Uid")[0] ?? 0;
}

function instancePath(id: string, ...parts: string[]): string {
  return join(pilvi.dataDir, "instances", id, ...parts);
}

test.each(["host", "keeper", "gateway", "control"] as const)(
  "the %s and its children gain no privileges",
  (name) => {
    expect(statusOf(pilvi.runningPid(name), "NoNewPrivs")).toEqual([1]);
  },
);

describe("every instance", () => {
  test("has a user of its own when root runs Pilvi, and its user otherwise", () => {
    const uids = [first.id, second.id, "store"].map((id) => uidOf(pidOf(id)));
    expect(new Set(uids).size).toBe(IS_ROOT ? 3 : 1);
    if (IS_ROOT) expect(uids).not.toContain(0);
    else expect(uids[0]).toBe(process.getuid?.() ?? -1);
  });

  test("has no groups, no new privileges, and no capabilities", () => {
    for (const id of [first.id, second.id, "store"]) {
      const pid = pidOf(id);
      expect(statusOf(pid, "NoNewPrivs")).toEqual([1]);
      if (!IS_ROOT) continue;
      const gid = statusOf(pid, "Gid")[0] ?? 0;
      expect(statusOf(pid, "Groups").filter((group) => group !== gid)).toEqual([]);
      expect(procText(pid, "status")).toMatch(/^CapEff:\s+0+$/m);
    }
  });

  test("has an environment without information", () => {
    for (const id of [first.id, second.id, "store"]) {
      const names = procText(pidOf(id), "environ").split("\n").filter(Boolean);
      for (const each of names) expect(each).toMatch(/^(TZ|LD_LIBRARY_PATH|PATH|LANG|LC_ALL|PG_\w+)=/);
    }
  });

  test("keeps its data private", () => {
    for (const id of [first.id, second.id, "store"]) {
      const data = statSync(instancePath(id, "data"));
      // The keeper, and nobody else, reads the log of the store.
      const isShared = id === "store" && IS_ROOT;
      expect(data.mode & 0o777).toBe(isShared ? 0o750 : 0o700);
      if (isShared) expect(data.gid).toBe(KEEPER_ACCOUNT.gid);
      expect(data.uid).toBe(uidOf(pidOf(id)));
      expect(statSync(instancePath(id, "manifest.json")).mode & 0o777).toBe(0o600);
      expect(statSync(instancePath(id, "engine.log")).mode & 0o777).toBe(0o600);
    }
  });
});

/** The readable files of a uid; without root only the own uid can be tried. */
async function canRead(uid: number, path: string): Promise<boolean> {
  const script =
    'if [ -d "$1" ]; then ls "$1"; elif [ -S "$1" ]; then test -w "$1"; else cat "$1"; fi >/dev/null 2>&1';
  const as = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
  return (await runCommand([...(IS_ROOT ? as : []), "sh", "-c", script, "sh", path])).code === 0;
}

test("an instance's user reads its own files and no others", async () => {
  const uid = uidOf(pidOf(first.id));
  expect(await canRead(uid, instancePath(first.id, "conf", "users.acl"))).toBe(true);
  expect(await canRead(uid, instancePath(first.id, "run", "engine.sock"))).toBe(true);
  const others = [
    ...["data", "conf", "run", "run/engine.sock", "conf/users.acl"].map((part) =>
      instancePath(second.id, part),
    ),
    ...["data", "conf", "run"].map((part) => instancePath("store", part)),
    ...[first.id, second.id, "store"].flatMap((id) =>
      ["manifest.json", "lock"].map((file) => instancePath(id, file)),
    ),
    ...["key", "token", "log", "instances", "run/host.sock"].map((part) => join(pilvi.dataDir, part)),
  ];
  // All files belong to the only user when Pilvi does not run as root.
  for (const path of others) expect([path, await canRead(uid, path)]).toEqual([path, !IS_ROOT]);
});

test.each([
  ["control", 30_000],
  ["gateway", 30_001],
] as const)("the %s process, which unauthenticated clients talk to, owns nothing", async (name, expected) => {
  const pid = pilvi.runningPid(name);
  const uid = uidOf(pid);
  if (IS_ROOT) {
    expect(uid).toBe(expected);
    expect(statusOf(pid, "Groups")).toEqual([]);
    expect(procText(pid, "status")).toMatch(/^CapEff:\s+0+$/m);
  }
  const secrets = ["key", "token", "log", "log/control.log", "tls/ca.key", "tls/gateway.key"];
  const files = secrets.map((part) => join(pilvi.dataDir, part));
  const closed = [...files, instancePath(first.id, "data"), instancePath(first.id, "manifest.json")];
  for (const path of closed) expect([path, await canRead(uid, path)]).toEqual([path, !IS_ROOT]);
});

test("no secret is in an argument or a log", async () => {
  const token = (await pilvi.run("token", "create", "--name", "for-logs")).stdout.trim();
  await pilvi.api("GET", "/caches", undefined, { authorization: `Bearer ${token}` });
  const client = new Bun.RedisClient(
    `redis://app:${first.attributes.connection.password}@127.0.0.1:${first.attributes.connection.port}`,
  );
  await client.ping();
  client.close();
  const secrets = [
    TOKEN,
    token,
    readFileSync(join(pilvi.dataDir, "token"), "utf8").trim(),
    readFileSync(join(pilvi.dataDir, "key"), "utf8").trim(),
    ...["ca", "gateway"].map(
      (name) => readFileSync(join(pilvi.dataDir, "tls", `${name}.key`), "utf8").split("\n")[1] ?? "",
    ),
    ...[first, second].map((cache) => cache.attributes.connection.password ?? ""),
    ...[first.id, second.id, "store"].map(adminPasswordOf),
  ].filter((secret) => secret !== "");
  expect(secrets.length).toBeGreaterThanOrEqual(10);
  const places = [...logs(pilvi.dataDir), ...commandLines()];
  expect(places.length).toBeGreaterThan(5);
  for (const { place, text } of places) {
    expect([place, secrets.filter((secret) => text.includes(secret))]).toEqual([place, []]);
  }
});

/** Empty for an engine whose administrator has no password. */
function adminPasswordOf(id: string): string {
  const manifest: unknown = JSON.parse(readFileSync(instancePath(id, "manifest.json"), "utf8"));
  const password = (manifest as { adminPassword?: unknown }).adminPassword;
  return typeof password === "string" ? password : "";
}

interface Text {
  place: string;
  text: string;
}

function logs(folder: string): Text[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.log(\.1)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((place) => ({ place, text: readFileSync(place, "utf8") }));
}

function commandLines(): Text[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ place: `/proc/${name}/cmdline`, text: textOf(Number(name)) }));
}

/** Empty for a process that has ended meanwhile. */
function textOf(pid: number): string {
  try {
    return procText(pid, "cmdline");
  } catch {
    return "";
  }
}
