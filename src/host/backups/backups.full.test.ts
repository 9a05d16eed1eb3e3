// Backups of awake and sleeping instances of every engine through the local driver, and restores of them, with a real
// keeper.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Failpoints, until } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import type { InstanceSpec, Origin } from "../../contracts/instance-spec.ts";
import { newId } from "../../lib/ids.ts";
import { customerCache, sleepySpec } from "../test-support.ts";
import { BackupStage } from "./test-support.ts";

const stage = new BackupStage();
beforeAll(() => stage.start(), 60_000);
afterAll(() => stage.close());

/** How a test writes and reads the data of an engine. */
interface Kind {
  kind: "cache" | "postgres" | "mysql";
  write(id: string, value: string): Promise<void>;
  read(id: string): Promise<string>;
}

function databaseKind(kind: "postgres" | "mysql"): Kind {
  return {
    kind,
    write: (id, value) =>
      stage.inDatabase(kind, id, async (db) => {
        await db`create table if not exists notes (note varchar(100))`;
        await db`delete from notes`;
        await db`insert into notes values (${value})`;
      }),
    read: (id) =>
      stage.inDatabase(kind, id, async (db) => {
        const [row] = await db<{ note: string }[]>`select note from notes`;
        return row?.note ?? "";
      }),
  };
}

const cache: Kind = {
  kind: "cache",
  write: async (id, value) => {
    const client = customerCache(await stage.awake(id));
    await client.set("note", value);
    client.close();
  },
  read: async (id) => {
    const client = customerCache(await stage.awake(id));
    const value = await client.get("note");
    client.close();
    return value ?? "";
  },
};

/** A new instance of the same kind, whose first data comes from an origin. */
function copySpec(spec: InstanceSpec, origin: Origin): InstanceSpec {
  const exposure = { ...spec.exposure, port: freePort() };
  return { ...spec, id: newId(spec.kind === "cache" ? "cache" : "db"), exposure, origin } as InstanceSpec;
}

function leftIn(id: string): string[] {
  return readdirSync(stage.folderOf(id)).filter((name) => name.startsWith("build."));
}

const KINDS: [name: string, kind: Kind][] = [
  ["Valkey", cache],
  ["Postgres", databaseKind("postgres")],
  ["MariaDB", databaseKind("mysql")],
];

describe.each(KINDS)("%s", (_, { kind, write, read }) => {
  const spec = sleepySpec(kind);
  const { id } = spec;

  test("a backup of it is made while it runs, and neither changes nor wakes it later", async () => {
    expect(await stage.driver.ensure(spec)).toMatchObject({ state: "running", lastError: null });
    await write(id, "awake");
    const hot = await stage.backUp(id);
    expect(hot).toMatchObject({ archive: id, isHot: true });
    expect(hot.users).toContain(spec.users[0]?.name ?? "");
    await write(id, "asleep");
    expect(await stage.driver.suspend(id)).toMatchObject({ state: "asleep" });
    const cold = await stage.backUp(id);
    expect(cold).toMatchObject({ archive: id, isHot: false });
    expect(await stage.driver.observe(id)).toMatchObject({ state: "asleep" });
    const archive = await stage.driver.archive(id);
    expect(archive?.backups.map((backup) => backup.id)).toEqual([hot.id, cold.id]);
    expect(stage.hosts.pidsOf(id)).toEqual([]);
  });

  test("either backup is restored into a new instance, with the password of its own spec", async () => {
    const { backups = [] } = (await stage.driver.archive(id)) ?? {};
    for (const { id: backup, isHot } of backups) {
      const copy = copySpec(spec, { archive: id, backup });
      expect(await stage.driver.ensure(copy)).toMatchObject({ state: "running", lastError: null });
      expect(await read(copy.id)).toBe(isHot ? "awake" : "asleep");
      expect(leftIn(copy.id)).toEqual([]);
      await write(copy.id, "own");
      await stage.driver.remove(copy.id);
      expect(existsSync(stage.folderOf(copy.id))).toBe(false);
    }
    expect(await stage.driver.observe(id)).toMatchObject({ state: "asleep" });
  });

  test("a sleeping instance is cloned without waking it, and a running instance without a break", async () => {
    const ofSleeper = copySpec(spec, { instance: id });
    expect(await stage.driver.ensure(ofSleeper)).toMatchObject({ state: "running", lastError: null });
    expect(await stage.driver.observe(id)).toMatchObject({ state: "asleep" });
    expect(await read(ofSleeper.id)).toBe("asleep");
    await write(id, "cloned");
    const ofRunning = copySpec(spec, { instance: id });
    expect(await stage.driver.ensure(ofRunning)).toMatchObject({ state: "running", lastError: null });
    await write(ofRunning.id, "own");
    expect(await read(id)).toBe("cloned");
    expect(await read(ofSleeper.id)).toBe("asleep");
    await Promise.all([ofSleeper.id, ofRunning.id].map((each) => stage.driver.remove(each)));
  });

  test("calls for the same backup join, and find it later", async () => {
    const backup = newId("snapshot");
    const calls = [1, 2, 3].map(() => stage.driver.backUp(id, backup, stage.signal));
    const [first, ...others] = await Promise.all(calls);
    const again = await stage.driver.backUp(id, backup, stage.signal);
    expect([...others, again].every((other) => isDeepStrictEqual(other, first))).toBe(true);
    await stage.driver.deleteBackup(id, backup);
    await stage.driver.deleteBackup(id, backup);
    const archive = await stage.driver.archive(id);
    expect(archive?.backups.some((each) => each.id === backup)).toBe(false);
  });
});

test("an unknown backup, and an unknown instance, are a failed restore, which is tried again when asked", async () => {
  const source = sleepySpec("cache");
  await stage.driver.ensure(source);
  const { id: backup } = await stage.backUp(source.id);
  const unknown = copySpec(source, { archive: source.id, backup: "snapshot-unknown" });
  const seen = await stage.driver.ensure(unknown);
  const failed = { state: "failed", restoreFailed: true, lastError: "The backup does not exist." };
  expect(seen).toMatchObject(failed);
  expect(await stage.driver.ensure(unknown)).toMatchObject(failed);
  expect(leftIn(unknown.id)).toEqual([]);
  const ofNothing = copySpec(source, { instance: "cache-unknown" });
  expect(await stage.driver.ensure(ofNothing)).toMatchObject({
    state: "failed",
    restoreFailed: true,
    lastError: "The instance to clone does not exist any more.",
  });
  await stage.driver.remove(ofNothing.id);
  await stage.driver.remove(unknown.id);
  await stage.driver.deleteBackup(source.id, backup);
});

describe("a copy that a fail point holds up", () => {
  const failpoints = new Failpoints();
  const spec = sleepySpec("cache", { sleepAfterSeconds: 1 });
  const { id } = spec;

  beforeAll(async () => {
    process.env.PILVI_FAILPOINT_DIR = failpoints.folder;
    Object.assign(globalThis, { PILVI_FAILPOINTS: true });
    await stage.driver.ensure(spec);
    await cache.write(id, "first");
  });

  afterAll(() => {
    Object.assign(globalThis, { PILVI_FAILPOINTS: false });
    delete process.env.PILVI_FAILPOINT_DIR;
    failpoints.close();
  });

  test("keeps a running instance awake, which sleeps afterwards", async () => {
    failpoints.arm("host.backup.begun");
    const made = stage.backUp(id);
    await failpoints.reached();
    await expect(stage.driver.suspend(id)).rejects.toThrow("A backup of it is being made.");
    stage.gateway.send({ type: "idle", id });
    failpoints.release();
    expect(await made).toMatchObject({ isHot: true });
    stage.gateway.send({ type: "idle", id });
    await stage.gateway.until(id, "asleep");
  });

  test("ends for a wake, and is made from the running engine", async () => {
    expect(await stage.driver.suspend(id)).toMatchObject({ state: "asleep" });
    failpoints.arm("host.backup.begun");
    const made = stage.backUp(id);
    await failpoints.reached();
    await stage.gateway.wake(id);
    failpoints.release();
    expect(await made).toMatchObject({ isHot: true });
    expect(await cache.read(id)).toBe("first");
  });

  test("is given up by its last caller, and with the instance", async () => {
    failpoints.arm("host.backup.begun");
    const caller = new AbortController();
    const given = stage.driver.backUp(id, "snapshot-given", caller.signal).catch((error: unknown) => error);
    await failpoints.reached();
    caller.abort();
    expect(await given).toBeInstanceOf(Error);
    failpoints.arm("host.backup.begun");
    const lost = stage.driver
      .backUp(id, "snapshot-lost", stage.signal)
      .catch((error: Error) => error.message);
    await failpoints.reached();
    await stage.driver.remove(id);
    failpoints.release();
    expect(await lost).toBe("The backup was given up.");
    const { backups = [] } = (await stage.driver.archive(id)) ?? {};
    expect(backups.filter((backup) => /given|lost/.test(backup.id))).toEqual([]);
    await until("no program is left", () => stage.hosts.pidsOf(id).length === 0);
  });
});

test("an instance without data is refused, and so is the deletion of the archive of an instance that exists", async () => {
  await expect(stage.backUp("db-unknown")).rejects.toThrow("db-unknown does not exist.");
  const spec = sleepySpec("cache");
  await stage.driver.ensure(spec);
  await stage.backUp(spec.id);
  await expect(stage.driver.deleteArchive(spec.id)).rejects.toThrow("still exists");
  await stage.driver.remove(spec.id);
  expect((await stage.driver.archive(spec.id))?.backups).toHaveLength(1);
  await stage.driver.deleteArchive(spec.id);
  expect(await stage.driver.archive(spec.id)).toBeNull();
});

test("a restore waits for a keeper that does not answer", async () => {
  const source = sleepySpec("cache");
  await stage.driver.ensure(source);
  await cache.write(source.id, "kept");
  const { id: backup } = await stage.backUp(source.id);
  await stage.killKeeper();
  await expect(stage.backUp(source.id)).rejects.toThrow("The keeper of backups does not answer.");
  const copy = copySpec(source, { archive: source.id, backup });
  const seen = await stage.driver.ensure(copy);
  expect(seen).toMatchObject({ state: "failed", lastError: "The keeper of backups does not answer." });
  expect(seen.restoreFailed).toBeUndefined();
  await stage.startKeeper();
  await until("it is restored", async () => (await stage.driver.observe(copy.id)).state === "running");
  expect(await cache.read(copy.id)).toBe("kept");
  expect(existsSync(join(stage.folderOf(copy.id), "data"))).toBe(true);
});
