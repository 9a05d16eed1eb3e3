// Temporary files of an engine are its own: no server of the same user removes another's.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chownSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../host.ts";
import { customerDatabase, sleepySpec, TestHosts, type TestGateway } from "../test-support.ts";

/** Named as a MariaDB names its temporary tables, in the folder where it keeps them by default. */
const OTHERS_TABLE = `/tmp/#sql-temptable-${crypto.randomUUID()}.MAD`;
const NOBODY = 65_534;

const hosts = new TestHosts();
let host: Host;
let gateway: TestGateway;

beforeAll(async () => {
  host = await hosts.start();
  gateway = await hosts.gateway();
});

afterAll(async () => {
  await hosts.close();
  rmSync(OTHERS_TABLE, { force: true });
});

test("a MariaDB that is built and started leaves the temporary tables of others alone", async () => {
  writeFileSync(OTHERS_TABLE, "");
  // This user builds the data directories.
  if (process.getuid?.() === 0) chownSync(OTHERS_TABLE, NOBODY, NOBODY);
  const [spec, neighbour] = [sleepySpec("mysql"), sleepySpec("mysql")];
  await host.ensure(spec);
  expect(existsSync(OTHERS_TABLE)).toBe(true);

  const db = customerDatabase("mysql", await gateway.until(spec.id, "running"));
  await db`create temporary table kept (word text) engine = Aria`;
  await db`insert into kept values ('moi')`;
  const tables = () => readdirSync(join(hosts.dataDir, "instances", spec.id, "tmp"));
  const before = tables();
  expect(before.filter((name) => name.startsWith("#sql"))).not.toBeEmpty();
  expect(await host.ensure(neighbour)).toMatchObject({ state: "running" });
  expect(tables()).toEqual(before);
  expect([...(await db`select word from kept`)]).toEqual([{ word: "moi" }]);
  await db`drop temporary table kept`;
  await db.close();
});
