// The ends of processes that are noted while no host runs, and what the next host reads of them.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { processName } from "../../contracts/engine-ends.ts";
import { EngineEnds } from "../../host/journal/engine-ends.ts";
import { pidfdOpen } from "../../lib/libc.ts";
import { createLog } from "../../lib/log.ts";
import { EndWatch } from "./end-watch.ts";

let folder: string;
let file: string;
let watch: EndWatch;
let ends: EngineEnds;

beforeEach(() => {
  folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-ends-"));
  file = join(folder, "ends");
  watch = new EndWatch(file, (sentence) => expect.unreachable(sentence));
  const link = { keep: (name: string, fd: number) => watch.keep(name, fd), drop: () => {} };
  ends = new EngineEnds(file, link, createLog("test", "silent"));
});

afterEach(() => {
  watch.end();
  rmSync(folder, { recursive: true, force: true });
});

/** A process that is watched as the engine of an instance. */
function engineOf(id: string) {
  const child = Bun.spawn(["sleep", "600"]);
  const fd = pidfdOpen(child.pid);
  if (typeof fd !== "number") throw new Error("there is no process");
  watch.keep(processName({ id, pid: child.pid }), fd);
  return child;
}

test("an end without a host is noted with its time, and forgotten when a host runs again", async () => {
  const [one, other] = [engineOf("cache-1"), engineOf("cache-2")];
  watch.begin();
  const before = new Date();
  one.kill();
  await until("the end is noted", () => ends.endOf({ id: "cache-1", pid: one.pid }) !== null);
  const at = ends.endOf({ id: "cache-1", pid: one.pid }) ?? expect.unreachable();
  expect(at >= before && at <= new Date()).toBe(true);
  expect(ends.endOf({ id: "cache-2", pid: other.pid })).toBeNull();
  expect(ends.endOf({ id: "cache-1", pid: one.pid + 1 })).toBeNull();
  watch.end();
  expect(existsSync(file)).toBe(false);
  other.kill();
});

test("an end that the host itself has seen is not noted", async () => {
  const one = engineOf("cache-1");
  one.kill();
  await one.exited;
  watch.keep(processName({ id: "cache-1", pid: one.pid }), null);
  watch.begin();
  expect(ends.endOf({ id: "cache-1", pid: one.pid })).toBeNull();
});

test("a line that is half written is passed over", () => {
  appendFileSync(file, '{"id":"cache-1","pid":7,"at":"2026-03-15T08:00:00.000Z"}\n{"id":"cac');
  expect(ends.endOf({ id: "cache-1", pid: 7 })).toEqual(new Date("2026-03-15T08:00:00.000Z"));
  expect(ends.endOf({ id: "cache-1", pid: 8 })).toBeNull();
});
