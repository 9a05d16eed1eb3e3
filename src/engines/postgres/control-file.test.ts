// The control file of a cluster that its own user has changed: whatever it says harms nobody else.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import type { EngineContext } from "../engine.ts";
import { backup } from "./backup/index.ts";
import { controlFileBytes } from "./control-file.ts";

let data: string;

beforeEach(() => {
  data = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-control-"));
  for (const name of ["global", "pg_wal"]) mkdirSync(join(data, name));
});

afterEach(() => rmSync(data, { recursive: true, force: true }));

/** The control file of a cluster that has ended cleanly. */
function writeControl(segmentBytes: number): void {
  const bytes = Buffer.alloc(512);
  bytes.writeUInt32LE(1, 16);
  bytes.writeBigUInt64LE(BigInt(5 * 1024 ** 2), 32);
  bytes.writeBigUInt64LE(BigInt(5 * 1024 ** 2), 40);
  bytes.writeUInt32LE(1, 48);
  bytes.writeUInt32LE(segmentBytes, 228);
  writeFileSync(join(data, "global", "pg_control"), bytes);
}

test("the log has segments of the size of all clusters", async () => {
  writeControl(4 * 1024 ** 2);
  expect(backup.log?.segmentBytes(data)).toBe(4 * 1024 ** 2);
  const context = { paths: { dataDir: data } } as EngineContext<PostgresSpec>;
  expect((await backup.cold(context)).facts.postgres?.startSegment).toBe("000000010000000000000001");
});

test.each([0, 1_048_576, 3_145_728, 1_073_741_824])("segments of %p bytes are refused", async (bytes) => {
  writeControl(bytes);
  expect(() => backup.log?.segmentBytes(data)).toThrow("its log has segments of another size");
  const context = { paths: { dataDir: data } } as EngineContext<PostgresSpec>;
  await expect(backup.cold(context)).rejects.toThrow("its log has segments of another size");
});

test("the file of another cluster behind a link in the place of its folder is not read", () => {
  writeControl(4 * 1024 ** 2);
  expect(controlFileBytes(data)).not.toBeNull();
  renameSync(join(data, "global"), join(data, "other"));
  symlinkSync(join(data, "other"), join(data, "global"));
  expect(controlFileBytes(data)).toBeNull();
});
