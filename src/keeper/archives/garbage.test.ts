// What is deleted as left over from a backup, and when: never a backup that is being made, or that a target has.
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Keeper } from "../keeper.ts";
import {
  bytesOf,
  collect,
  facts,
  freshFolder,
  keeperIn,
  PART_BYTES,
  removeFolder,
  storeBackup,
  streamOf,
} from "../test-support.ts";
import { MemoryTarget } from "../targets/test-target.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { Garbage } from "./garbage.ts";

const ID = "cache-1";
const BYTES = bytesOf(PART_BYTES + 1_000);
const COMPLETE = /\/backup\.json$/;

let folder: string;
let targets: [MemoryTarget, MemoryTarget];
let keeper: Keeper;

beforeEach(() => {
  folder = freshFolder();
  targets = [new MemoryTarget("a", false), new MemoryTarget("b", false)];
});

afterEach(async () => {
  await keeper.close();
  removeFolder(folder);
});

/** A keeper that deletes what is left over when it sees it. */
async function start(): Promise<void> {
  keeper = keeperIn(folder, [], { targets, leftoverMs: 0 });
  keeper.start();
  await keeper.loaded();
  await keeper.store.tend();
}

async function isWhole(): Promise<boolean> {
  return (await collect(await keeper.archives.read(ID, "one"))).equals(Buffer.from(BYTES));
}

test("a backup that is just being declared complete stays", async () => {
  await start();
  await keeper.archives.store(ID, "one", streamOf(BYTES));
  const releases = targets.map((target) => target.hold(COMPLETE));
  const completing = keeper.archives.complete(ID, "one", facts);
  await keeper.review();
  for (const release of releases) release();
  await completing;
  expect(keeper.archives.state(ID)?.backups.map(({ id }) => id)).toEqual(["one"]);
  expect(await isWhole()).toBe(true);
});

test("a backup that a target has stays while that is away", async () => {
  await start();
  await storeBackup(keeper, ID, "one", BYTES);
  await keeper.close();
  const [a, b] = targets;
  for (const name of b.objects.keys()) if (COMPLETE.test(name)) b.objects.delete(name);
  a.isAway = true;
  await start();
  await keeper.review();
  expect(keeper.archives.state(ID)?.backups).toEqual([]);
  a.isAway = false;
  await until("the target is used again", async () => {
    await keeper.store.tend();
    await keeper.review();
    return keeper.archives.state(ID)?.backups.length === 1;
  });
  expect(await isWhole()).toBe(true);
});

test("the time of a leftover begins when its stream has ended", async () => {
  await start();
  const deleted: string[] = [];
  let isActive = true;
  const archives = {
    finishDeletion: () => Promise.resolve(),
    isActive: () => isActive,
    deleteLeftover: async (_: string, backup: string) => {
      if (isActive) return false;
      deleted.push(backup);
      return true;
    },
  };
  const garbage = new Garbage(archives, 60);
  const contents = { deleted: [], leftovers: [{ archive: ID, backup: "one" }] };
  for (let now = 0; now < 60; now += 10) await garbage.collect(contents, now);
  isActive = false;
  for (let now = 60; now < 120; now += 10) await garbage.collect(contents, now);
  expect(deleted).toEqual([]);
  await garbage.collect(contents, 120);
  expect(deleted).toEqual(["one"]);
});
