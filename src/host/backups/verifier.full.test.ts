// Verified restores of backups and instants of every engine through the local driver: sound copies pass, and damage to
// a backup or to data that was backed up is found.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { enginePidsAt } from "../../../tests/support/pilvi/processes.ts";
import { Failpoints, until } from "../../../tests/support/pilvi/pilvi.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { keeperDir, verificationsDir } from "../os/layout.ts";
import { customerCache, customerDatabase, sleepySpec } from "../test-support.ts";
import { BackupStage } from "./test-support.ts";

const stage = new BackupStage();
beforeAll(() => stage.start(), 60_000);
afterAll(() => stage.close());

const copies = () => verificationsDir(stage.hosts.dataDir);

/** Nothing of a verification is left: neither a file nor a program. */
function expectNothingLeft(): void {
  expect(existsSync(copies())).toBe(false);
  expect(enginePidsAt(copies())).toEqual([]);
}

function damage(path: string, at: number): void {
  const fd = openSync(path, "r+");
  writeSync(fd, Buffer.alloc(64, 0xab), 0, 64, at);
  closeSync(fd);
}

async function verify(id: string, backup: string) {
  return await stage.driver.verify(id, { backup }, stage.signal);
}

/** Makes an instance with data. @returns the path of a table or of the keys, in the data folder of the stopped engine. */
async function filled(spec: InstanceSpec): Promise<string> {
  await stage.driver.ensure(spec);
  const route = await stage.gateway.until(spec.id, "running");
  if (spec.kind === "cache") {
    const client = customerCache(route);
    for (let key = 0; key < 100; key += 1) await client.set(`key-${key}`, "v".repeat(200));
    client.close();
    return "";
  }
  const adapter = spec.kind === "postgres" ? "postgres" : "mysql";
  const db = customerDatabase(adapter, route);
  try {
    await db`create table words (id int primary key, word varchar(100))`;
    const values = Array.from({ length: 5_000 }, (_, id) => ({ id, word: `word ${id}` }));
    await db`insert into words ${db(values)}`;
    if (adapter === "mysql") return "main/words.ibd";
    const [row] = await db<{ path: string }[]>`select pg_relation_filepath('words') as path`;
    return row?.path ?? "";
  } finally {
    await db.close();
  }
}

/** Leaves a copy as a killed host does. */
function leave(): void {
  mkdirSync(join(copies(), "cache-left", "data"), { recursive: true });
  writeFileSync(join(copies(), "cache-left", "data", "dump.rdb"), "left");
}

describe.each([
  ["Valkey", "cache"],
  ["Postgres", "postgres"],
  ["MariaDB", "mysql"],
] as const)("%s", (_, kind) => {
  const spec = sleepySpec(kind);
  const { id } = spec;

  test("a sound backup passes, with its time and size, and the instance sleeps on", async () => {
    const file = await filled(spec);
    await stage.driver.suspend(id);
    const { id: backup, completedAt } = await stage.backUp(id);
    const found = await verify(id, backup);
    expect(found).toMatchObject({ backup, at: completedAt, isComplete: true, faults: [] });
    expect(Math.min(found.checked, found.bytes, found.restoreSeconds)).toBeGreaterThan(0);
    expect(await stage.driver.observe(id)).toMatchObject({ state: "asleep" });
    expect(stage.programsAt(id)).toEqual([]);
    expectNothingLeft();
    if (kind === "cache") return;

    // The copy of damaged data is as it was stored, and only its tables show the damage.
    damage(join(stage.folderOf(id), "data", file), 3 * 16_384 + 4_000);
    const corrupt = await stage.backUp(id);
    const { faults } = await verify(id, corrupt.id);
    expect(faults.join(" ")).toMatch(/words|cannot start with its data/);
    expectNothingLeft();
  });
});

describe("a cache", () => {
  const spec = sleepySpec("cache");
  const { id } = spec;
  let backup = "";
  const failpoints = new Failpoints();

  beforeAll(async () => {
    await filled(spec);
    ({ id: backup } = await stage.backUp(id));
    process.env.PILVI_FAILPOINT_DIR = failpoints.folder;
    Object.assign(globalThis, { PILVI_FAILPOINTS: true });
  });

  afterAll(() => {
    Object.assign(globalThis, { PILVI_FAILPOINTS: false });
    delete process.env.PILVI_FAILPOINT_DIR;
    failpoints.close();
  });

  test("what a killed host has left is deleted by the next host, and by the next verification", async () => {
    leave();
    await stage.startHost();
    stage.gateway = await stage.hosts.gateway();
    await until("the rest is deleted", () => !existsSync(copies()));
    leave();
    expect(await verify(id, backup)).toMatchObject({ faults: [], checked: 100 });
    expectNothingLeft();
  });

  test("a backup whose first part is damaged is found", async () => {
    const { id: other, completedAt } = await stage.backUp(id);
    const parts = join(keeperDir(stage.hosts.dataDir), "archives", id, "backups", other, "parts");
    damage(join(parts, readdirSync(parts)[0] ?? ""), 600);
    const faults = [
      `A part of the backup of ${completedAt} is damaged or missing, so it cannot be restored.`,
    ];
    expect(await verify(id, other)).toMatchObject({ backup: other, checked: 0, isComplete: false, faults });
    expectNothingLeft();
  });

  test("a backup that does not exist, and an unknown instance, are no result", async () => {
    await expect(verify(id, "snapshot-unknown")).rejects.toThrow("is not kept any more");
    await expect(verify("cache-unknown", backup)).rejects.toThrow("cache-unknown does not exist.");
  });

  test("a verification waits for the one before, and ends with its caller", async () => {
    failpoints.arm("host.verification.restored");
    const caller = new AbortController();
    const first = stage.driver.verify(id, { backup }, caller.signal).catch((error: unknown) => error);
    await failpoints.reached();
    const second = verify(id, backup);
    expect(readdirSync(copies())).toHaveLength(1);
    caller.abort();
    expect(await first).toBeInstanceOf(Error);
    failpoints.release();
    expect(await second).toMatchObject({ faults: [] });
    expectNothingLeft();
  });

  test("a verification ends with the instance", async () => {
    failpoints.arm("host.verification.restored");
    const given = verify(id, backup).catch((error: Error) => error.message);
    await failpoints.reached();
    const removed = stage.driver.remove(id);
    failpoints.release();
    await removed;
    expect(await given).toBe("The verification was given up.");
    expectNothingLeft();
  });
});
