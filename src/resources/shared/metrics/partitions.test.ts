// The days of the metrics in a real store: made ahead, and dropped when they are older than they are kept.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { freshDatabase } from "../../../../tests/support/engines/postgres.ts";
import type { Database } from "../../../store/database.ts";
import { keepPartitions } from "./partitions.ts";

const DAY_MS = 86_400_000;
const NOW = Date.parse("2026-03-15T12:00:00Z");

let db: Database;
beforeAll(async () => {
  db = await freshDatabase();
});
afterAll(() => db.close());

async function partitions(): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent in ('metrics_minutes'::regclass, 'metrics_fives'::regclass) order by 1`;
  return rows.map(({ name }) => name);
}

const keepAt = (nowMs: number) => db.begin((tx) => keepPartitions(tx, nowMs));

beforeEach(async () => {
  for (const name of await partitions()) await db.unsafe(`drop table ${name}`);
  await keepAt(NOW);
});

test("days that are no longer kept are dropped, each table by its own time", async () => {
  await keepAt(NOW + DAY_MS);
  const names = await partitions();
  expect(names.filter((name) => name.startsWith("metrics_minutes_"))).toEqual([
    "metrics_minutes_20260315",
    "metrics_minutes_20260316",
    "metrics_minutes_20260317",
  ]);
  expect(names.find((name) => name.startsWith("metrics_fives_"))).toBe("metrics_fives_20260308");
});

test("a clock that is behind drops no day", async () => {
  const present = await partitions();
  await keepAt(NOW - 30 * DAY_MS);
  expect(await partitions()).toEqual(expect.arrayContaining(present));
});
