// Counts over kills of the process, on a full disk, and of applications that are removed.
import { afterAll, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshDataDir } from "../../../tests/support/pilvi/pilvi.ts";
import { ClusterCounters } from "../counters.ts";
import { CounterFiles } from "./counter-files.ts";

const dataDir = freshDataDir();
const folder = join(dataDir, "counters");
const warnings: string[] = [];
const log = { warn: (_members: object, message: string) => void warnings.push(message) };

const counters = () => new ClusterCounters("ws-1", new CounterFiles(folder, log));

beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  warnings.length = 0;
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Counts in a process of its own, which is then killed. */
async function countAndDie(): Promise<void> {
  const program = `
    import { ClusterCounters } from "${join(import.meta.dir, "../counters.ts")}";
    import { CounterFiles } from "${join(import.meta.dir, "counter-files.ts")}";
    const counters = new ClusterCounters("ws-1", new CounterFiles("${folder}", console));
    for (let each = 0; each < 1000; each += 1) counters.of("wsapp-1").sent += 2;
    counters.of("wsapp-2").failed += 1;
    process.kill(process.pid, "SIGKILL");`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdio: ["ignore", "inherit", "inherit"] });
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
}

test("the next process counts on from all that a killed process has counted", async () => {
  await countAndDie();
  await countAndDie();
  const next = counters();
  expect([next.whole().sent, next.whole().failed]).toEqual([4000, 2]);
  expect([next.of("wsapp-1").sent, next.of("wsapp-2").failed]).toEqual([4000, 2]);
});

test("what a removed application has counted stays in the counts of its cluster", () => {
  const former = counters();
  former.of("wsapp-1").received += 3;
  former.of("wsapp-2").received += 4;
  former.keepOnly(new Set(["wsapp-2"]));
  // A connection that is just being closed.
  former.of("wsapp-2").received += 1;
  expect(readdirSync(folder).sort()).toEqual(["ws-1", "wsapp-2"]);
  const next = counters();
  expect([next.of("wsapp-1").received, next.of("wsapp-2").received]).toEqual([0, 5]);
  expect(next.whole().received).toBe(8);
});

test("an application that was removed while no process ran is counted to its cluster once", async () => {
  await countAndDie();
  for (let start = 0; start < 2; start += 1) {
    const next = counters();
    next.keepOnly(new Set(["wsapp-2"]));
    next.of("wsapp-2");
    expect([next.whole().sent, next.whole().failed]).toEqual([2000, 1]);
  }
  expect(readdirSync(folder).sort()).toEqual(["ws-1", "wsapp-2"]);
});

test("a file that a power cut has left damaged begins with zero", () => {
  counters().of("wsapp-1").sent += 5;
  writeFileSync(join(folder, "wsapp-1"), "short");
  writeFileSync(join(folder, "ws-1"), new Uint8Array(56).fill(0xff));
  const next = counters();
  next.of("wsapp-1").sent += 1;
  expect([next.of("wsapp-1").sent, next.whole().sent]).toEqual([1, 1]);
});

test("counts that cannot be kept are counted in memory", () => {
  writeFileSync(folder, "no folder");
  const made = counters();
  made.of("wsapp-1").sent += 5;
  made.keepOnly(new Set());
  expect([made.whole().sent, existsSync(join(folder, "ws-1"))]).toEqual([5, false]);
  expect(warnings.length).toBeGreaterThan(1);
  rmSync(folder);
});
