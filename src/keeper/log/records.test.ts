// Reads the log of real servers, as they wrote it and with damage.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { microsecondsOf } from "./instant.ts";
import { PAGE_BYTES, writtenBytes } from "./page.ts";
import { readRecords, unknownCursor, type Cursor, type ReadRecords } from "./records.ts";
import { crcOf, crcResult, CRC_START } from "./crc32c.ts";
import { LogFolder } from "./log-folder.ts";
import { lsnText, parseLsn } from "./segment.ts";
import { cursorAfter, firstWritten, isComplete, readFrom, sourceOf, type SourceRead } from "./source.ts";
import { LogPostgres, postgresEngines, SEGMENT_BYTES } from "./test-support.ts";

// The versions between them have the same pages and records; tests/full/keeper reads the log of each.
const engines = (await postgresEngines()).filter((_, at, all) => at === 0 || at === all.length - 1);

test("the checksum is that of Castagnoli", () => {
  const bytes = new TextEncoder().encode("123456789");
  expect(crcResult(crcOf(CRC_START, bytes, 0, bytes.length))).toBe(0xe3069283);
});

describe.each(engines.map((engine) => [engine.version, engine] as const))(
  "the log of Postgres %s",
  (_, engine) => {
    let server: LogPostgres;

    beforeAll(async () => {
      server = await LogPostgres.start(engine);
      await server.query("create table t(n bigint, pad text)");
      await server.query("insert into t select g, repeat('x', 200) from generate_series(1, 60000) g");
      // A record of several megabytes lies in several segments.
      await server.query("select pg_logical_emit_message(false, 'large', repeat('y', 9000000))");
      await server.query("insert into t values (0, 'last')");
    });
    afterAll(async () => await server.remove());

    test("is read to its end, record by record, over all segments", async () => {
      const { reads } = await readAll(server);
      const [row] = await server.query<{ at: string }>("select pg_current_wal_flush_lsn()::text as at");
      expect(reads.length).toBeGreaterThan(4);
      expect(reads.at(-1)?.records.outcome).toBe("end");
      expect(lsnText(reads.at(-1)?.records.proved.position ?? 0)).toBe(row?.at as string);
    });

    test("gives the time of the last commit to the microsecond", async () => {
      const [row] = await server.query<{ at: string }>(
        "select to_char(pg_xact_commit_timestamp(xmin) at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') as at from t where n = 0",
      );
      const { reads } = await readAll(server);
      const ends = reads.map(({ records }) => records.lastTransactionEnd ?? 0);
      expect(Math.max(...ends)).toBe(microsecondsOf(row?.at ?? ""));
    });

    test("is never read beyond a byte that was changed", async () => {
      const { reads, cursors } = await readAll(server);
      const last = reads.at(-1) as SourceRead;
      const from = cursors.at(-1) as Cursor;
      const end = last.records.proved.position - last.base;
      for (let at = 41; at < end; at += Math.ceil(end / 60) | 1) {
        const bytes = last.bytes.slice();
        bytes[at] = (bytes[at] as number) ^ 0x10;
        const { proved } = readRecords(from, bytes.subarray(0, writtenBytes(bytes, last.base)), last.base);
        // A byte between two records or in a page's header need not count; all that was proved is still true.
        if (proved.position - last.base > at) expect(isBetweenRecords(last, from, at)).toBe(true);
      }
    });

    test("read in two parts gives the same as in a single part, wherever it is cut", async () => {
      const { reads, cursors } = await readAll(server);
      const first = reads[1] as SourceRead;
      const from = cursors[1] as Cursor;
      for (let pages = 1; pages * PAGE_BYTES < first.bytes.length; pages += 37) {
        const half = readRecords(from, first.bytes.subarray(0, pages * PAGE_BYTES), first.base);
        const rest = readRecords(
          half.end,
          first.bytes.subarray(pages * PAGE_BYTES),
          first.base + pages * PAGE_BYTES,
        );
        expect(lastOf(rest)).toEqual(lastOf(first.records));
      }
    });

    test("goes on after a crash that cut its last record off", async () => {
      await server.query("insert into t select g, repeat('x', 200) from generate_series(1, 2000) g");
      await server.stop("SIGKILL");
      await server.run();
      await server.query("insert into t values (1, 'after the crash')");
      const [row] = await server.query<{ at: string }>("select pg_current_wal_flush_lsn()::text as at");
      const { reads } = await readAll(server);
      expect(reads.at(-1)?.records.proved.position).toBeGreaterThanOrEqual(parseLsn(row?.at as string));
    });
  },
);

/** Equal for two ways to read the same bytes. */
function lastOf({ end, outcome }: ReadRecords) {
  return { position: end.position, lastRecord: end.lastRecord, outcome, missing: end.open?.missingBytes };
}

/** Reads all segments from the oldest on, each with the cursor that it was read from. */
async function readAll(server: LogPostgres): Promise<{ reads: SourceRead[]; cursors: Cursor[] }> {
  const folder = LogFolder.open(server.log);
  try {
    const source = sourceOf(folder, SEGMENT_BYTES);
    const first = await firstWritten(source, 1, 0);
    if (first === null) throw new Error("there is no log");
    const [reads, cursors]: [SourceRead[], Cursor[]] = [[], [unknownCursor(first.number * SEGMENT_BYTES)]];
    for (let segment = first; ; segment = { ...segment, number: segment.number + 1 }) {
      const read = await readFrom(source, segment, cursors.at(-1) as Cursor);
      if (read === null || read.bytes.length === 0) return { reads, cursors: cursors.slice(0, -1) };
      reads.push(read);
      if (!(await isComplete(source, segment, read.records))) return { reads, cursors };
      cursors.push(cursorAfter(segment, read.records, SEGMENT_BYTES));
    }
  } finally {
    folder.close();
  }
}

/** Whether no record has the byte: it is in a page's header or fills a record up to eight bytes. */
function isBetweenRecords({ bytes, base }: SourceRead, from: Cursor, at: number): boolean {
  if (at % PAGE_BYTES < 40) return true;
  const cut = bytes.slice(0, (Math.floor(at / PAGE_BYTES) + 1) * PAGE_BYTES);
  cut.fill(0, (Math.floor(at / 8) + 1) * 8);
  const proved = readRecords(from, cut, base).proved.position - base;
  return proved === (Math.floor(at / 8) + 1) * 8 && bytes.subarray(at, proved).every((byte) => byte === 0);
}
