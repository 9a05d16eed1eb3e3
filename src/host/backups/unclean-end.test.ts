// Backups and clones of an instance that sleeps after an end that was not clean: its data is recovered first.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import { newId } from "../../lib/ids.ts";
import { sleepySpec } from "../test-support.ts";
import { BackupStage } from "./test-support.ts";

const stage = new BackupStage();
const spec = sleepySpec("postgres") as PostgresSpec;
const { id } = spec;
let written = 0;

beforeAll(async () => {
  await stage.start();
  await stage.driver.ensure(spec);
  await inDatabase(id, (db) => db`create table kept (id int)`);
});
afterAll(() => stage.close());

beforeEach(async () => {
  await inDatabase(id, (db) => db`insert into kept select generate_series(1, 1000)`);
  written += 1_000;
  await endUncleanly();
});

const inDatabase = <T>(of: string, use: (db: Bun.SQL) => Promise<T>) => stage.inDatabase("postgres", of, use);

/** Leaves the instance as a power cut does in the middle of its stop for a sleep. */
async function endUncleanly(): Promise<void> {
  stage.host.release();
  for (const pid of stage.hosts.pidsOf(id)) process.kill(pid, "SIGKILL");
  await until("its processes have ended", () => stage.hosts.pidsOf(id).length === 0);
  const path = join(stage.folderOf(id), "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...manifest, state: "asleep" }));
  await stage.startHost();
  stage.gateway = await stage.hosts.gateway();
  await until("it sleeps", async () => (await stage.driver.observe(id)).state === "asleep");
}

const count = (db: Bun.SQL) => db<{ count: number }[]>`select count(*)::int as count from kept`;

test("a backup is made of the recovered data", async () => {
  expect(await stage.backUp(id)).toMatchObject({ isHot: true });
  stage.gateway.send({ type: "idle", id });
  await stage.gateway.until(id, "asleep");
  expect(await stage.backUp(id)).toMatchObject({ isHot: false });
});

test("a clone has the recovered data", async () => {
  const exposure = { ...spec.exposure, port: freePort() };
  const clone: PostgresSpec = { ...spec, id: newId("db"), exposure, origin: { instance: id } };
  expect(await stage.driver.ensure(clone)).toMatchObject({ state: "running", lastError: null });
  expect(await inDatabase(clone.id, count)).toEqual([{ count: written }] as never);
});
