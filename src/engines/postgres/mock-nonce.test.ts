// The nonce in a control file; that of every installed version is compared with its engine in tests/gateway.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mockNonceOf } from "./mock-nonce.ts";

let data: string;
let file: string;

beforeEach(() => {
  data = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-nonce-"));
  mkdirSync(join(data, "global"));
  file = join(data, "global", "pg_control");
});

afterEach(() => rmSync(data, { recursive: true, force: true }));

/** A control file whose bytes are their own positions. */
function controlFile(version: number, length = 8192): Buffer {
  const bytes = Buffer.from(Array.from({ length }, (_, at) => at % 256));
  bytes.writeUInt32LE(version, 8);
  return bytes;
}

test("the nonce is read at the place of its version", () => {
  for (const [version, first] of [
    [1300, 0],
    [1700, 0],
    [1800, 1],
  ] as const) {
    writeFileSync(file, controlFile(version));
    const expected = Buffer.from(Array.from({ length: 32 }, (_, at) => first + at));
    expect(mockNonceOf(data)).toBe(expected.toString("hex"));
  }
});

test("a missing, short or unknown control file has no nonce", () => {
  expect(mockNonceOf(data)).toBeNull();
  writeFileSync(file, controlFile(1800, 300));
  expect(mockNonceOf(data)).toBeNull();
  writeFileSync(file, controlFile(9999));
  expect(mockNonceOf(data)).toBeNull();
});

test("a link, a pipe and a folder in place of the file are not read, and nothing waits for them", () => {
  writeFileSync(join(data, "elsewhere"), controlFile(1800));
  symlinkSync(join(data, "elsewhere"), file);
  expect(mockNonceOf(data)).toBeNull();
  rmSync(file);
  expect(Bun.spawnSync(["mkfifo", file]).exitCode).toBe(0);
  expect(mockNonceOf(data)).toBeNull();
  rmSync(file);
  mkdirSync(file);
  expect(mockNonceOf(data)).toBeNull();
});
