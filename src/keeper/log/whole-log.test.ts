// Whether a restore to an instant wants the whole log of a real Postgres, to the microsecond.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RestorePlan } from "../../contracts/keeper.ts";
import { facts } from "../test-support.ts";
import { LogFolder } from "./log-folder.ts";
import { segmentName } from "./segment.ts";
import { isWritten, sourceOf } from "./source.ts";
import { LogPostgres, SEGMENT_BYTES } from "./test-support.ts";
import { markedWhole } from "./whole-log.ts";

let server: LogPostgres;

beforeAll(async () => {
  server = await LogPostgres.start();
  await server.query("create table t(n bigint, pad text)");
  await server.query("insert into t select g, repeat('x', 200) from generate_series(1, 60000) g");
  await server.query("insert into t values (0, 'last')");
});
afterAll(async () => await server.remove());

/** The time of the last commit, some microseconds later. */
async function afterLast(microseconds: number): Promise<string> {
  const [row] = await server.query<{ at: string }>(
    `select to_char((pg_xact_commit_timestamp(xmin) + interval '${microseconds} microseconds') at time zone 'utc',
       'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from t where n = 0`,
  );
  return row?.at ?? "";
}

async function isWholeAt(at: string): Promise<boolean> {
  const folder = LogFolder.open(server.log);
  try {
    const source = sourceOf(folder, SEGMENT_BYTES);
    const segments: RestorePlan["segments"] = [];
    for (const segment of source.segments)
      if (await isWritten(source, segment))
        segments.push({ name: segmentName(segment, SEGMENT_BYTES), isPartial: false });
    const backup = { ...facts, id: "one", archive: "a", partCount: 0, plainBytes: 0, storedBytes: 0 };
    const recovery = { kind: "time" as const, at, mustReachLsn: "0/0" };
    const read = async (name: string) =>
      (await folder.segment(name, SEGMENT_BYTES, 0, SEGMENT_BYTES)) ?? new Uint8Array(SEGMENT_BYTES);
    const marked = await markedWhole({ backup, recovery, segments, totalBytes: 0 }, SEGMENT_BYTES, read);
    return marked.recovery.kind === "time" && marked.recovery.isWholeLog === true;
  } finally {
    folder.close();
  }
}

test("an instant from the last commit on wants the whole log, and an earlier one does not", async () => {
  expect(await isWholeAt(await afterLast(0))).toBe(true);
  expect(await isWholeAt(await afterLast(60_000_000))).toBe(true);
  expect(await isWholeAt(await afterLast(-1))).toBe(false);
});

test("a long end of the log without a commit changes nothing, and a longer one leaves it unknown", async () => {
  await server.query("select pg_logical_emit_message(false, 'large', repeat('y', 9000000))");
  expect(await isWholeAt(await afterLast(0))).toBe(true);
  expect(await isWholeAt(await afterLast(-1))).toBe(false);
  await server.query("select pg_logical_emit_message(false, 'large', repeat('y', 40000000))");
  expect(await isWholeAt(await afterLast(0))).toBe(false);
});
