// The keeper's socket: requests of the host, what they refuse, and a keeper that is killed in the middle of a stream.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import { KeeperClient, PlanRefused } from "../host/backups/keeper-client.ts";
import type { ArchiveWatchLine, BackupFacts } from "../contracts/keeper.ts";
import { keeperPath } from "../contracts/versions.ts";
import type { Keeper, KeeperOptions } from "./keeper.ts";
import { serveKeeper } from "./server.ts";
import {
  bytesOf,
  collect,
  facts,
  freshFolder,
  keeperIn,
  PART_BYTES,
  removeFolder,
  silentLog,
  streamOf,
} from "./test-support.ts";

const ID = "cache-1";
const BYTES = bytesOf(PART_BYTES * 3 + 1_000);

let folder: string;
let client: KeeperClient;
let stops: (() => Promise<unknown>)[];
let socket: string;
const never = new AbortController().signal;

beforeEach(() => {
  folder = freshFolder("a");
  socket = join(folder, "run", "keeper.sock");
  client = new KeeperClient(socket);
  stops = [];
});

afterEach(async () => {
  for (const stop of stops.toReversed()) await stop();
  removeFolder(folder);
});

function serve(options: Partial<KeeperOptions> = {}): Keeper {
  const keeper = keeperIn(folder, ["a"], options);
  const stop = serveKeeper(keeper, socket, silentLog);
  keeper.start();
  stops.push(() => keeper.close(), stop);
  return keeper;
}

async function store(backup: string, bytes = BYTES, more: Partial<BackupFacts> = {}) {
  await client.store(ID, backup, streamOf(bytes), never);
  return await client.complete(ID, backup, { ...facts, ...more });
}

async function ask(method: string, path: `/${string}`, body?: string): Promise<Response> {
  return await fetch(`http://keeper${keeperPath(path)}`, {
    method,
    unix: socket,
    ...(body !== undefined && { body }),
  });
}

async function faultOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => null,
    (error: unknown) => error,
  );
}

describe("the host", () => {
  test("stores a backup, sees it, reads it back, and deletes it", async () => {
    serve();
    await client.announce(ID, { engine: facts.engine, log: null });
    const info = await store("one");
    expect(await client.archives()).toEqual([(await client.archive(ID)) as never]);
    expect(await client.archive(ID)).toMatchObject({
      id: ID,
      engine: facts.engine,
      backups: [info],
      log: null,
      lastError: null,
    });
    expect(Buffer.compare(await collect(await client.read(ID, "one", never)), BYTES)).toBe(0);
    expect(await client.complete(ID, "one", facts)).toEqual(info);
    await client.deleteBackup(ID, "one");
    expect((await client.archive(ID))?.backups).toEqual([]);
    await client.deleteArchive(ID);
    expect(await client.archive(ID)).toBeNull();
    expect(existsSync(join(folder, "a", "archives", ID))).toBe(false);
  });

  test("sees each archive, and then each change", async () => {
    serve();
    await store("one");
    const lines: ArchiveWatchLine[] = [];
    const watching = new AbortController();
    const watched = (async () => {
      for await (const line of client.watch(watching.signal)) lines.push(line);
    })().catch(() => undefined);
    await until("the watch is there", () => lines.length === 2);
    expect(lines.map(({ type }) => type)).toEqual(["archive", "synced"]);
    await store("two");
    await client.deleteArchive(ID);
    await until("the deletion is seen", () => lines.at(-1)?.type === "removed");
    expect(lines.at(-2)).toMatchObject({ archive: { backups: [{ id: "one" }, { id: "two" }] } });
    watching.abort();
    await watched;
  });

  test("gets a stream broken off at damage, never a shorter one", async () => {
    serve();
    await store("one");
    writeFileSync(join(folder, "a", "archives", ID, "backups", "one", "parts", "000002"), "damaged");
    expect(await faultOf(client.read(ID, "one", never).then(collect))).not.toBeNull();
    expect(await client.archive(ID)).not.toBeNull();
  });

  test("plans the restore of a backup, and learns why there is no plan", async () => {
    serve();
    const old = await store("old");
    const newest = await store("new", BYTES, { completedAt: "2026-11-23T00:00:00Z" });
    expect(await client.plan(ID, { backup: "old" })).toEqual({
      backup: old,
      recovery: { kind: "immediate" },
      segments: [],
      totalBytes: BYTES.length,
    });
    expect((await client.plan(ID, { latest: true })).backup).toEqual(newest);
    for (const [id, target, code] of [
      [ID, { backup: "none" }, "unknown_backup"],
      ["cache-2", { latest: true }, "unknown_backup"],
      [ID, { at: "2026-11-23T00:00:00Z" }, "too_early"],
    ] as const) {
      const error = await faultOf(client.plan(id, target));
      expect(error).toBeInstanceOf(PlanRefused);
      expect(error).toMatchObject({ code });
    }
  });

  test("keeps what it names, and the rest is deleted", async () => {
    serve();
    for (const [backup, day] of [
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ] as const)
      await store(backup, BYTES, { completedAt: `2026-11-0${day}T00:00:00Z` });
    await client.retain(ID, { keepFrom: null, keepBackups: ["a", "c"] });
    expect((await client.archive(ID))?.backups.map(({ id }) => id)).toEqual(["a", "c"]);
    expect(readdirSync(join(folder, "a", "archives", ID, "backups")).sort()).toEqual(["a", "c"]);
  });

  test("checks all objects", async () => {
    serve();
    await store("one");
    const lines = (await (await ask("POST", "/check")).text()).trim().split("\n");
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ type: "sum", objects: 6, faults: 0 });
  });

  test("learns of a damaged backup and of a wrong key before it restores", async () => {
    serve();
    await store("one");
    await stops.pop()?.();
    await stops.pop()?.();
    writeFileSync(join(folder, "a", "archives", ID, "backups", "one", "backup.json"), "damaged");
    serve();
    expect(await faultOf(client.plan(ID, { backup: "one" }))).toMatchObject({ code: "damaged" });
    await stops.pop()?.();
    await stops.pop()?.();
    const other = serve({ key: new Uint8Array(32).fill(9), loadingTimeoutMs: 300 });
    await until("the other key is noticed", () => other.store.hasWrongKey);
    expect(await faultOf(client.plan(ID, { backup: "one" }))).toMatchObject({ code: "wrong_key" });
  });
});

describe("a request", () => {
  test("with an id that leads elsewhere, or a body of another form, is refused", async () => {
    serve();
    expect((await ask("PUT", "/archives/..%2Fother/backups/one", "x")).status).toBe(400);
    expect((await ask("GET", "/archives/a/log/..%2F..%2Fkey")).status).toBe(400);
    expect(
      (await ask("PUT", "/archives/a", JSON.stringify({ engine: facts.engine, log: null, more: 1 }))).status,
    ).toBe(400);
    expect((await ask("POST", "/archives/a/plan", JSON.stringify({ latest: false }))).status).toBe(400);
    expect(existsSync(join(folder, "a", "archives"))).toBe(false);
  });

  test("for a backup that is not there is a 404 with a sentence", async () => {
    serve();
    const response = await ask("GET", "/archives/a/backups/one");
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ message: "There is no such backup." });
  });

  test("of a host that went away is no error in the log", async () => {
    const lines: string[] = [];
    const note = (level: string) => (fields: object | string, text?: string) =>
      void lines.push(`${level}: ${text ?? JSON.stringify(fields)}`);
    const log = { ...silentLog, info: note("info"), error: note("error") };
    const keeper = keeperIn(folder, ["a"], { log });
    stops.push(() => keeper.close(), serveKeeper(keeper, socket, log));
    keeper.start();
    const leaving = new AbortController();
    const asked = Promise.withResolvers<void>();
    async function* endless() {
      for (;;) {
        yield BYTES;
        asked.resolve();
        await Bun.sleep(5);
      }
    }
    const stored = faultOf(client.store(ID, "one", endless(), leaving.signal));
    await asked.promise;
    leaving.abort();
    expect(await stored).not.toBeNull();
    await until("the keeper has noticed", () => lines.length > 0);
    expect(lines).toEqual(["info: a stream was broken off by the host"]);
  });

  test("needs the user of the socket", () => {
    serve();
    expect(statSync(socket).mode & 0o777).toBe(0o600);
  });
});
