// Statistics of statements that are too large to be read before a start.
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import type { EngineContext } from "../engine.ts";
import { dropLargeStatistics } from "./statements.ts";

const FILE = "pg_stat_statements.stat";
let data: string;

beforeEach(() => {
  data = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-statements-"));
  mkdirSync(join(data, "pg_stat"));
  writeFileSync(join(data, "pg_stat", FILE), "");
});

afterEach(() => rmSync(data, { recursive: true, force: true }));

function drop(): void {
  dropLargeStatistics({ paths: { dataDir: data } } as EngineContext<PostgresSpec>);
}

test("only a large file is deleted", () => {
  drop();
  expect(existsSync(join(data, "pg_stat", FILE))).toBe(true);
  truncateSync(join(data, "pg_stat", FILE), 33 * 1024 ** 2);
  drop();
  expect(existsSync(join(data, "pg_stat", FILE))).toBe(false);
});

test("the file of another cluster behind a link in the place of the folder stays", () => {
  truncateSync(join(data, "pg_stat", FILE), 33 * 1024 ** 2);
  renameSync(join(data, "pg_stat"), join(data, "other"));
  symlinkSync(join(data, "other"), join(data, "pg_stat"));
  drop();
  expect(existsSync(join(data, "other", FILE))).toBe(true);
});
