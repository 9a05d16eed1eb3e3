// Which running realtime servers must be started anew, and how much memory they may take.
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RealtimeSpec } from "../../contracts/instance-spec.ts";
import { MAX_PAYLOAD_BYTES } from "../../contracts/realtime.ts";
import { REALTIME_VERSION } from "../../contracts/versions.ts";
import { MAX_MESSAGE_BYTES } from "../../contracts/websocket-application.ts";
import type { EngineContext } from "../engine.ts";
import { realtime } from "./index.ts";

const confDir = mkdtempSync(join(tmpdir(), "pilvi-"));
const context = { paths: { confDir } } as unknown as EngineContext<RealtimeSpec>;
const file = join(confDir, "realtime.json");

afterAll(() => rmSync(confDir, { recursive: true }));

test("a server without a file has never been started, so it is not outdated", () => {
  expect(realtime.isOutdated?.(context)).toBe(false);
});

test("a server is outdated unless its file has this version", () => {
  writeFileSync(file, JSON.stringify({ version: REALTIME_VERSION, port: 20_000 }));
  expect(realtime.isOutdated?.(context)).toBe(false);
  writeFileSync(file, JSON.stringify({ version: REALTIME_VERSION - 1, port: 20_000 }));
  expect(realtime.isOutdated?.(context)).toBe(true);
});

test.each(["", '{"version":', "[]", "null"])(
  "a server with the damaged file %p is outdated, so that its start writes the file anew",
  (content) => {
    writeFileSync(file, content);
    expect(realtime.isOutdated?.(context)).toBe(true);
  },
);

test("a server whose file cannot be read is outdated", () => {
  rmSync(file);
  mkdirSync(file);
  expect(realtime.isOutdated?.(context)).toBe(true);
});

function memoryFor(maxConnections: number): number {
  return realtime.limits({ maxConnections } as RealtimeSpec, 2 ** 40).memoryBytes;
}

test("the memory of a server has room for an unfinished message on each connection, whatever applications allow", () => {
  expect(memoryFor(2_000) - memoryFor(1_000)).toBeGreaterThanOrEqual(1_000 * MAX_PAYLOAD_BYTES);
  expect(MAX_PAYLOAD_BYTES).toBeGreaterThan(MAX_MESSAGE_BYTES);
});
