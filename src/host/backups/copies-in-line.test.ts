// Copies that wait for another copy of their instance, or for an instance that does not run: what comes meanwhile does
// not wait with them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Failpoints, until } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import type { InstanceSpec, Origin } from "../../contracts/instance-spec.ts";
import { newId } from "../../lib/ids.ts";
import { sleepySpec } from "../test-support.ts";
import { BackupStage } from "./test-support.ts";

const stage = new BackupStage();
const failpoints = new Failpoints();

beforeAll(async () => {
  process.env.PILVI_FAILPOINT_DIR = failpoints.folder;
  Object.assign(globalThis, { PILVI_FAILPOINTS: true });
  await stage.start();
});

afterAll(async () => {
  Object.assign(globalThis, { PILVI_FAILPOINTS: false });
  delete process.env.PILVI_FAILPOINT_DIR;
  await stage.close();
  failpoints.close();
});

function copySpec(spec: InstanceSpec, origin: Origin): InstanceSpec {
  const exposure = { ...spec.exposure, port: freePort() };
  return { ...spec, id: newId("cache"), exposure, origin } as InstanceSpec;
}

/** Resolves when the host builds the first data of an instance, or waits to do so. */
async function untilBuilt(id: string): Promise<void> {
  await until("the host builds it", async () => (await stage.driver.observe(id)).state === "starting");
}

test("a backup and a clone that wait for another copy of the instance are given up at once", async () => {
  const spec = sleepySpec("cache");
  const { id } = spec;
  await stage.driver.ensure(spec);
  failpoints.arm("host.backup.begun");
  const first = stage.backUp(id);
  await failpoints.reached();
  const backup = newId("snapshot");
  const second = stage.driver.backUp(id, backup, stage.signal).catch((error: Error) => error.message);
  const clone = copySpec(spec, { instance: id });
  const cloned = stage.driver.ensure(clone).catch(() => undefined);
  await untilBuilt(clone.id);
  await stage.driver.deleteBackup(id, backup);
  await stage.driver.remove(clone.id);
  failpoints.release();
  expect(await second).toBe("The backup was given up.");
  await cloned;
  const made = await first;
  expect((await stage.driver.archive(id))?.backups.map((each) => each.id)).toEqual([made.id]);
});

test("clones of an instance that does not run hold up no copies and restores of others", async () => {
  const spec = sleepySpec("cache");
  await stage.driver.ensure(spec);
  const failed = copySpec(spec, { archive: spec.id, backup: "snapshot-unknown" });
  expect(await stage.driver.ensure(failed)).toMatchObject({ state: "failed" });
  const clones = [1, 2].map(() => copySpec(spec, { instance: failed.id }));
  const cloned = clones.map((clone) => stage.driver.ensure(clone).catch(() => undefined));
  for (const clone of clones) await untilBuilt(clone.id);
  const { id: backup } = await stage.backUp(spec.id);
  const restored = copySpec(spec, { archive: spec.id, backup });
  expect(await stage.driver.ensure(restored)).toMatchObject({ state: "running", lastError: null });
  // They still wait for the instance.
  for (const { id } of clones)
    expect(await stage.driver.observe(id)).toMatchObject({ state: "starting", lastError: null });
  for (const { id } of clones) await stage.driver.remove(id);
  await Promise.all(cloned);
});

test("restores of one instance leave a place to those of others", async () => {
  const [spec, other] = [sleepySpec("cache"), sleepySpec("cache")];
  for (const each of [spec, other])
    await stage.driver.ensure({ ...each, exposure: { ...each.exposure, port: freePort() } });
  const backups = [await stage.backUp(spec.id), await stage.backUp(other.id)] as const;
  failpoints.arm("host.restore.planned");
  const restores = [1, 2, 3].map(() => copySpec(spec, { archive: spec.id, backup: backups[0].id }));
  const restored = restores.map(async (each) => await stage.driver.ensure(each));
  await failpoints.reached();
  for (const { id } of restores) await untilBuilt(id);
  const ofOther = copySpec(other, { archive: other.id, backup: backups[1].id });
  expect(await stage.driver.ensure(ofOther)).toMatchObject({ state: "running", lastError: null });
  for (const { id } of restores) expect(await stage.driver.observe(id)).toMatchObject({ state: "starting" });
  failpoints.release();
  for (const each of await Promise.all(restored)) expect(each).toMatchObject({ state: "running" });
});
