// Verifications of a MariaDB's backups, and damaged and incomplete backups, whose restore says what is wrong.
import { afterEach, expect, test } from "bun:test";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { clusterOf, closeClusters, fill, withClient, type Cluster } from "../support/engines/lone-mariadb.ts";
import type { MadeBackup } from "../support/engines/lone-engine.ts";
import { RestoreFault } from "../../src/engines/backup.ts";

afterEach(closeClusters);

async function madeBackup(): Promise<MadeBackup> {
  const cluster = await clusterOf();
  await cluster.start();
  await withClient(cluster, fill);
  return await cluster.hotBackup();
}

async function verified(copy: Cluster, backup: MadeBackup, timeoutMs: number) {
  return await copy.withRestore(backup, async (context) => await copy.backup.verify(context, timeoutMs));
}

/** Overwrites a part of a file of the data. */
function damage(copy: Cluster, name: string, at: number): void {
  const fd = openSync(join(copy.folder.data, name), "r+");
  writeSync(fd, Buffer.alloc(256, 0xab), 0, 256, at);
  closeSync(fd);
}

test("a verification reads all tables, and names those that are damaged", async () => {
  const backup = await madeBackup();
  const copy = await clusterOf();
  await copy.restore(backup);
  const whole = await verified(copy, backup, 60_000);
  expect(whole).toMatchObject({ isComplete: true, faults: [] });
  expect(whole.checked).toBeGreaterThan(20);
  expect(await verified(copy, backup, 0)).toEqual({ checked: 0, isComplete: false, faults: [] });

  damage(copy, "main/large.ibd", 3 * 16_384 + 100);
  const { faults } = await verified(copy, backup, 60_000);
  expect(faults.join(" ")).toMatch(/The table "main\.large" is damaged|MariaDB cannot start/);
});

test("a damaged system tablespace is a fault that says so", async () => {
  const backup = await madeBackup();
  const copy = await clusterOf();
  await copy.unpack(backup);
  for (let page = 0; page < 12; page += 1) damage(copy, "ibdata1", page * 16_384 + 100);
  const recovering = copy.withRestore(backup, async (context) => await copy.backup.recover(context));
  const error = await recovering.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RestoreFault);
  expect(String(error)).toContain("The backup is damaged: ");
});

test.each([0.1, 0.5, 0.9, 0.999])("a stream of which only a part of %d is there is a fault", async (part) => {
  const { stream, facts } = await madeBackup();
  const truncated = { stream: stream.subarray(0, Math.floor(stream.length * part)), facts };
  const copy = await clusterOf();
  await expect(copy.restore(truncated)).rejects.toThrow(
    "The backup is incomplete: its stream ends too early.",
  );
});

test("a stream with wrong bytes is refused when it is unpacked", async () => {
  const { stream, facts } = await madeBackup();
  const damaged = Buffer.from(stream);
  damaged.fill(0xff, Math.floor(stream.length / 2), Math.floor(stream.length / 2) + 16);
  const copy = await clusterOf();
  expect(await copy.unpack({ stream: damaged, facts })).not.toBe(0);
  await expect(copy.restore({ stream: damaged, facts })).rejects.toThrow(RestoreFault);
});

test("a backup of another release line is a fault that says so", async () => {
  const { stream, facts } = await madeBackup();
  const copy = await clusterOf();
  const newer = { ...facts, engine: { ...facts.engine, version: "99.1.2", major: "99.1" } };
  await expect(copy.restore({ stream, facts: newer })).rejects.toThrow("made by mariadb 99.1.2");
});
