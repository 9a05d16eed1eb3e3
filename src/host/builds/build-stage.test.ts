// The runtime of a build while it is being fetched.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { closeSync, mkdirSync, openSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ApplicationHost } from "../../../tests/support/applications/host.ts";
import { freshDataDir, until } from "../../../tests/support/pilvi/pilvi.ts";
import { loadConfig } from "../../config.ts";
import { runtimesDir } from "../../engines/runtimes/folder.ts";
import { toolsDir } from "../../engines/tools/tools.ts";
import { tryLock } from "../../lib/libc.ts";

const enginesDir = freshDataDir();
const runtimes = runtimesDir(enginesDir);
const NODE = { runtime: { name: "node", version: "24" } } as const;

let host: ApplicationHost;
beforeAll(async () => {
  // Tools are there, and runtimes are not.
  symlinkSync(toolsDir(loadConfig(process.env).enginesDir), toolsDir(enginesDir));
  host = new ApplicationHost({ enginesDir });
  await host.start();
});
afterAll(async () => {
  await host.close();
  rmSync(enginesDir, { recursive: true, force: true });
});

test("a cancel ends a build whose runtime is being fetched, which goes on for other builds", async () => {
  mkdirSync(runtimes, { recursive: true });
  // Another installer holds the folder, as during a fetch that takes its time.
  const lock = openSync(join(runtimes, ".lock"), "a");
  expect(tryLock(lock)).toBe(true);
  const { builds } = host.host;
  const { id } = await host.order(NODE, {});
  await until("the build has its sandbox", () => builds.observe(id)?.isolation !== null);
  expect(await builds.cancel(id)).toMatchObject({ state: "cancelled", failure: null, steps: [] });
  const other = await host.order(NODE, {});
  await until("the other has its sandbox", () => builds.observe(other.id)?.isolation !== null);
  mkdirSync(join(runtimes, "node-24.99.0"));
  closeSync(lock);
  expect(await host.ended(other.id)).toMatchObject({ state: "succeeded" });
});
