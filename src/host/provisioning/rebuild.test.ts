// Data that is built anew while processes of the former engine are still there, and whatever is in it.
import { afterAll, expect, test } from "bun:test";
import { closeSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeDeep, VERY_DEEP } from "../../../tests/support/deep-tree.ts";
import { freshDataDir, until } from "../../../tests/support/pilvi/pilvi.ts";
import { ensureInstanceFolder, instanceFolder } from "../os/layout.ts";
import { isLocked, takeLock } from "../os/locks.ts";
import { emptyForRebuild, isRebuildDue, markRebuild } from "./rebuild.ts";

const dataDir = freshDataDir();
const folder = instanceFolder(dataDir, "replica-1");

afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test("a process that the former engine left behind writes nothing into the emptied data", async () => {
  ensureInstanceFolder(folder);
  mkdirSync(folder.data, { recursive: true });
  const fd = takeLock(folder.lock) ?? -1;
  // Each pass of the loop leaves another file, as a Postgres does that ends its recovery.
  const script = "while :; do : > label.$((number += 1)); done";
  const left = Bun.spawn(["sh", "-c", script], {
    cwd: folder.data,
    stdio: ["ignore", "ignore", "ignore", fd],
  });
  closeSync(fd);
  try {
    await until("it writes", () => readdirSync(folder.data).length > 0);
    markRebuild(folder);
    await emptyForRebuild(folder);
    expect(isLocked(folder.lock)).toBe(false);
    expect(readdirSync(folder.data)).toEqual([]);
    expect(isRebuildDue(folder)).toBe(false);
  } finally {
    left.kill("SIGKILL");
    await left.exited;
  }
});

test("data that is deep is deleted as well", async () => {
  ensureInstanceFolder(folder);
  mkdirSync(folder.data, { recursive: true });
  makeDeep(join(folder.data, "deep"), VERY_DEEP);
  markRebuild(folder);
  await emptyForRebuild(folder);
  expect(readdirSync(folder.data)).toEqual([]);
});
