// Warm slots of an invented engine, whose data directory is a single file.
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FirstData } from "../../engines/engine.ts";
import type { InstalledEngine } from "../../engines/installed.ts";
import { createLog } from "../../lib/log.ts";
import { BUILD_ACCOUNT, canSwitchUsers } from "../os/accounts.ts";
import { WarmPool, type SlotKind } from "./warm-pool.ts";

const log = createLog("test", "silent");

let root: string;
let running: WarmPool[];

beforeEach(() => {
  root = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "slots-"));
  // The building user does not own the folder.
  chmodSync(root, 0o711);
  running = [];
});

afterEach(async () => {
  for (const slots of running) await slots.stop();
  rmSync(root, { recursive: true });
});

function kindOf(recipe = "1", version = "1.0"): SlotKind {
  const firstData: FirstData = {
    mark: "mark",
    recipe,
    build: (_, __, builder) => builder.run(["sh", "-c", `mkdir data; echo ${recipe} >data/mark`]),
  };
  const home = "/nowhere";
  const installed: InstalledEngine = {
    name: "postgres",
    version,
    origin: "store",
    program: `${home}/postgres`,
    home,
    env: {},
  };
  return { installed, firstData };
}

function startSlots(count: number, ...kinds: SlotKind[]): WarmPool {
  const slots = new WarmPool(root, count, log);
  slots.start(kinds);
  running.push(slots);
  return slots;
}

async function untilReady(slots: WarmPool, kind: SlotKind, count: number): Promise<void> {
  while (slots.ready(kind) !== count) await Bun.sleep(2);
}

/** Every folder of a slot, complete or not. */
function allSlots(): string[] {
  return readdirSync(join(root, "slots")).flatMap((key) => readdirSync(join(root, "slots", key)));
}

test("a slot is taken once, and another is built in its place", async () => {
  const kind = kindOf();
  const slots = startSlots(2, kind);
  await untilReady(slots, kind, 2);
  const before = allSlots();
  expect(slots.take(kind, join(root, "first"))).toBe(true);
  expect(slots.take(kind, join(root, "second"))).toBe(true);
  expect(slots.take(kind, join(root, "third"))).toBe(false);
  expect(readFileSync(join(root, "second", "mark"), "utf8")).toBe("1\n");
  await untilReady(slots, kind, 2);
  expect(allSlots().filter((name) => before.includes(name))).toBeEmpty();
});

test("other users cannot look into a slot", async () => {
  const kind = kindOf();
  const slots = startSlots(1, kind);
  await untilReady(slots, kind, 1);
  const listing = Bun.spawnSync(["ls", "-ld", ...allSlots()], {
    cwd: join(root, "slots", readdirSync(join(root, "slots"))[0] ?? ""),
  });
  expect(listing.stdout.toString()).toStartWith("drwx------");
});

test.skipIf(!canSwitchUsers())("a slot belongs to a user that nobody else is", async () => {
  const kind = kindOf();
  const slots = startSlots(1, kind);
  await untilReady(slots, kind, 1);
  expect(slots.take(kind, join(root, "taken"))).toBe(true);
  for (const path of ["taken", "taken/mark"]) {
    const { uid, gid } = statSync(join(root, path));
    expect({ uid, gid }).toEqual(BUILD_ACCOUNT);
  }
});

test.skipIf(!canSwitchUsers())("a slot that an earlier Pilvi left to nobody is made anew", async () => {
  const kind = kindOf();
  const first = startSlots(1, kind);
  await untilReady(first, kind, 1);
  await first.stop();
  const before = allSlots();
  const [key = ""] = readdirSync(join(root, "slots"));
  chownSync(join(root, "slots", key, before[0] ?? "", "data"), 65_534, 65_534);
  const slots = startSlots(1, kind);
  await untilReady(slots, kind, 1);
  expect(allSlots()).not.toEqual(before);
});

test("a pool of size 0 keeps no slots, and deletes earlier ones", async () => {
  const kind = kindOf();
  const former = startSlots(1, kind);
  await untilReady(former, kind, 1);
  await former.stop();
  const slots = startSlots(0, kind);
  expect(slots.take(kind, join(root, "taken"))).toBe(false);
  expect(allSlots()).toBeEmpty();
});

test.each([
  ["recipe", kindOf("2")],
  ["version", kindOf("1", "1.1")],
])("slots of another %s are deleted and built anew", async (_, changed) => {
  const kind = kindOf();
  const former = startSlots(1, kind);
  await untilReady(former, kind, 1);
  await former.stop();
  const before = allSlots();
  const slots = startSlots(1, changed);
  expect(slots.take(kind, join(root, "taken"))).toBe(false);
  await untilReady(slots, changed, 1);
  expect(allSlots()).not.toEqual(before);
});

test("slots that a killed host had begun to build or to hand over are deleted at the next start", async () => {
  const kind = kindOf();
  const former = startSlots(1, kind);
  await untilReady(former, kind, 1);
  await former.stop();
  const folder = join(root, "slots", readdirSync(join(root, "slots"))[0] ?? "");
  const remains = ["begun.building", "handed-over"].map((name) => join(folder, name));
  for (const path of remains) mkdirSync(path);
  mkdirSync(join(folder, "begun.building", "data"));
  const slots = startSlots(1, kind);
  expect(slots.ready(kind)).toBe(1);
  expect(remains.filter((path) => existsSync(path))).toBeEmpty();
});

test("a failed build leaves no slot behind, and a create builds for itself", async () => {
  const kind = kindOf("broken; exit 1");
  const slots = startSlots(1, kind);
  await slots.stop();
  expect(allSlots()).toBeEmpty();
  expect(slots.take(kind, join(root, "taken"))).toBe(false);
});
