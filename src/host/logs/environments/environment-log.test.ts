// The log of an environment on the disk: kills, compression, bounds, and floods.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EnvironmentLogEntry, EnvironmentLogQuery } from "../../../contracts/environment-logs.ts";
import { createLog } from "../../../lib/log.ts";
import { SEGMENT_BYTES } from "./chain.ts";
import { EnvironmentLogs } from "./environment-logs.ts";
import type { LogRetention } from "./retention.ts";

const PROCESS = { id: "proc-1", environment: "env-1", deployment: "depl-1" };

let dataDir: string;
let output: string;
let logs: EnvironmentLogs;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "pilvi-logs-"));
  output = join(dataDir, "engine.log");
  logs = host();
});

afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** A host that takes up what the former has left. */
function host(retention?: LogRetention): EnvironmentLogs {
  const process = { ...PROCESS, path: output };
  return new EnvironmentLogs({
    dataDir,
    ...(retention !== undefined && { retention }),
    processes: () => [process],
    processOf: (id) => (id === process.id ? process : undefined),
    hasRoute: (id) => id.startsWith("env-"),
    log: createLog("host", "silent"),
    workedMs: () => 0,
  });
}

/** Everything that a query selects, in pages. */
async function entries(query: Partial<EnvironmentLogQuery> = {}): Promise<EnvironmentLogEntry[]> {
  const found: EnvironmentLogEntry[] = [];
  let at: Partial<EnvironmentLogQuery> = {};
  for (;;) {
    const asked = { limit: 1_000, ...query, ...at };
    const slice = await logs.read("env-1", asked, AbortSignal.timeout(5_000));
    found.push(...slice.entries);
    if (slice.isEnd) return found;
    at = { cursor: slice.next };
  }
}

const messages = async (query: Partial<EnvironmentLogQuery> = {}) =>
  (await entries(query)).map(({ message }) => message);

function request(route: string, path: string): string {
  const said = { r: route, s: 200, b: 10, d: 3, i: "127.0.0.1", m: "GET", p: path, u: "" };
  return JSON.stringify(said);
}

function files(): string[] {
  return readdirSync(join(dataDir, "logs", "env-1")).toSorted();
}

test("a line that a killed host has half written is read again, and no other", async () => {
  appendFileSync(output, "one\ntwo\n");
  logs.turn();
  const [segment = ""] = files();
  appendFileSync(join(dataDir, "logs", "env-1", segment), '{"t":1,"l":"info","y":"appl');
  logs = host();
  appendFileSync(output, "three\n");
  logs.turn();
  expect(await messages()).toEqual(["one", "two", "three"]);
});

test("an exception whose trace comes later is one entry", async () => {
  appendFileSync(output, "before\nTypeError: no basket\n");
  logs.turn();
  expect(await messages()).toEqual(["before"]);
  appendFileSync(output, "    at pay (/app/pay.js:3:9)\n    at main (/app/main.js:1:1)\nafter\n");
  logs.turn();
  const [, fault, after] = await entries();
  expect(fault).toMatchObject({
    type: "exception",
    message: "no basket",
    data: { class: "TypeError", file: "/app/pay.js:3", trace: [expect.any(String), expect.any(String)] },
  });
  expect(after?.message).toBe("after");
});

test("a position stays good when its segment is compressed, and a gap is said", async () => {
  const line = `${"x".repeat(4_000)}\n`;
  appendFileSync(output, `first\n`);
  logs.turn();
  const { next } = await logs.read("env-1", { limit: 1 }, AbortSignal.timeout(5_000));
  for (let written = 0; written <= SEGMENT_BYTES; written += 200 * line.length) {
    appendFileSync(output, line.repeat(200));
    for (let turn = 0; turn < 6; turn += 1) logs.turn();
  }
  appendFileSync(output, "last\n");
  logs.turn();
  await logs.tidy();
  expect(files().some((name) => name.endsWith(".log.zst"))).toBe(true);
  logs = host();
  const after = await messages({ cursor: next });
  expect([after.length > 2_000, after.at(-1), after.includes("first")]).toEqual([true, "last", false]);
  expect(await messages({ tail: 1 })).toEqual(["last"]);
  logs = host({ days: 7, bytes: 1 });
  await logs.tidy();
  const { hasGap } = await logs.read("env-1", { limit: 1, cursor: next }, AbortSignal.timeout(5_000));
  expect(hasGap).toBe(true);
});

test("a flood of one environment takes no entries of another, and is counted", async () => {
  for (let number = 0; number < 5_000; number += 1) logs.request("env-2", request("env-2", `/${number}`));
  logs.request("env-1", request("env-1", "/mine"));
  logs.missed("env-2", 7);
  logs.turn();
  expect(await messages()).toEqual(["GET /mine 200"]);
  const { entries: others } = await logs.read(
    "env-2",
    { limit: 1, types: ["system"] },
    AbortSignal.timeout(5_000),
  );
  expect(others[0]?.message).toBe("4507 requests are missing here: there were too many at once.");
});

test("an application that writes faster than its log is kept loses lines of its own, and the log says so", async () => {
  appendFileSync(output, `${"y".repeat(999)}\n`.repeat(12_000));
  for (let turn = 0; turn < 8; turn += 1) logs.turn();
  const [said, ...rest] = await entries();
  expect(said).toMatchObject({
    type: "system",
    message: expect.stringContaining("bytes of output are missing"),
  });
  expect(rest.length).toBeGreaterThan(1_000);
});

test("the end of a process has its last words before it, and a removed environment has no log", async () => {
  mkdirSync(dataDir, { recursive: true });
  appendFileSync(output, "last words without an end");
  logs.turn();
  expect(await messages()).toEqual([]);
  logs.happened("proc-1", "crashed", {});
  expect(await messages()).toEqual(["last words without an end", "The process ended by itself."]);
  expect(statSync(join(dataDir, "logs", "env-1")).mode & 0o777).toBe(0o700);
  logs.remove("env-1");
  expect([await messages(), existsSync(join(dataDir, "logs", "env-1"))]).toEqual([[], false]);
});

/** Writes lines of 60,000 characters each, and has the host read them. */
function writeLong(lines: number): void {
  for (let line = 0; line < lines; line += 1) {
    appendFileSync(
      output,
      `${JSON.stringify({ msg: `long ${line}`, context: { text: "x".repeat(60_000) } })}\n`,
    );
    if (line % 4 === 3) logs.turn();
  }
  logs.turn();
}

test("the last entries together are no larger than another slice", async () => {
  writeLong(100);
  const found = await logs.read("env-1", { tail: 1_000, limit: 1_000 }, AbortSignal.timeout(5_000));
  expect(JSON.stringify(found).length).toBeLessThan(4 * 1024 ** 2);
  expect(found.entries.at(-1)?.message).toBe("long 99");
  expect(found.isEnd).toBe(true);
});

test.each([
  ["last entries", { tail: 10 }],
  ["entries from the oldest on", {}],
])("a search for %s that finds none gives other work its turn", async (_, part) => {
  writeLong(100);
  const query = { ...part, limit: 10, text: "not there" };
  const pauses = spyOn(Bun, "sleep").mockClear();
  const found = await logs.read("env-1", query, AbortSignal.timeout(5_000));
  const count = pauses.mock.calls.length;
  pauses.mockRestore();
  expect(found.entries).toEqual([]);
  expect(count).toBeGreaterThan(8);
});
