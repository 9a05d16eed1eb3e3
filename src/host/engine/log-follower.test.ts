// Lines of a growing log are found whether they come early, late, in pieces or in a burst.
import { afterAll, expect, test } from "bun:test";
import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshDataDir } from "../../../tests/support/pilvi/pilvi.ts";
import { latestStart, lineAppears, readTail } from "./log-follower.ts";

const folder = freshDataDir();
const never = new AbortController().signal;

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function newLog(name: string, content = ""): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

test("a line that is already in the log is found", async () => {
  expect(await lineAppears(newLog("early", "one\nready\ntwo\n"), /ready/, never)).toBe(true);
});

test("a line that is written in pieces is found", async () => {
  for (let round = 0; round < 50; round += 1) {
    const path = newLog(`late-${round}`);
    const found = lineAppears(path, /is ready now/, never);
    // A watch loses events that come within a millisecond of each other.
    for (const piece of ["starting\n", "is rea", "dy", " now", "\n"]) appendFileSync(path, piece);
    expect(await found).toBe(true);
  }
});

test("a line is found before many others that came with it, and after a line that is longer than what is read at once", async () => {
  const others = "Table 'db.x' doesn't exist\n".repeat(10_000);
  for (const rest of [others, others.replaceAll("\n", " ")]) {
    const path = newLog("burst", "of an earlier start\n");
    const found = lineAppears(path, /^is ready$/m, never, Bun.file(path).size);
    appendFileSync(path, `is ready\n${rest}`);
    expect(await found).toBe(true);
    const next = lineAppears(path, /^is ready again$/m, never, Bun.file(path).size);
    appendFileSync(path, `${rest}\nis ready again\n`);
    expect(await next).toBe(true);
  }
});

test("a line of a log that was trimmed meanwhile is found", async () => {
  const path = newLog("trimmed", "x\n".repeat(100));
  const found = lineAppears(path, /ready/, never, 200);
  writeFileSync(path, "");
  appendFileSync(path, "ready\n");
  expect(await found).toBe(true);
});

test("the latest start counts from the end of the log that is read when it is further back", () => {
  const path = newLog("starts", `# pilvi start\nready\n${"x\n".repeat(100)}`);
  expect(latestStart(path)).toBe(0);
  appendFileSync(path, "x\n".repeat(20_000));
  expect(readTail(path, latestStart(path))).not.toContain("ready");
  expect(latestStart(path)).toBe(Bun.file(path).size - Buffer.byteLength(readTail(path)));
});

test("the wait for a line ends when it is given up", async () => {
  const giveUp = new AbortController();
  const found = lineAppears(newLog("never"), /ready/, giveUp.signal);
  giveUp.abort();
  expect(await found).toBe(false);
  expect(await lineAppears(newLog("never-2"), /ready/, giveUp.signal)).toBe(false);
});

test("only the end of a long log is read, and a missing log is empty", () => {
  const path = newLog("long", `${"x".repeat(100_000)}\nthe end`);
  expect(readTail(path).length).toBeLessThan(20_000);
  expect(readTail(path)).toEndWith("the end");
  expect(readTail(join(folder, "missing"))).toBe("");
});
