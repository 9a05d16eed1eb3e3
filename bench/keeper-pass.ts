// Measures the processor time of the keeper that ships the log of a Postgres with 100 commits a second, and of an idle
// Postgres, beside the same keeper without a log.
import { LogPostgres, SEGMENT_BYTES } from "../src/keeper/log/test-support.ts";
import { freshFolder, keeperIn, removeFolder } from "../src/keeper/test-support.ts";
import { cpuNsOfAllThreads } from "./support/cpu.ts";
import { countOption } from "./support/options.ts";
import { printColumns, printHeading, printRow, printTarget } from "./support/report.ts";

const SECONDS = countOption(60);
const COMMITS_PER_SECOND = 100;
/** A keeper runs for days, so passes count that it makes with compiled code. */
const WARM_UP_PASSES = 500;
const MS_PER_SECOND = 1000;
const NS_PER_MS = 1_000_000;
const TARGET_PERCENT = 0.5;
const ENGINE = { name: "postgres" as const, major: "18", version: "18.4" };

/** Commits within the server, so that no client's time counts. */
const COMMITS = `do $$ declare began timestamptz := clock_timestamp(); begin
  for i in 1..${SECONDS * COMMITS_PER_SECOND} loop
    update t set v = v + 1 where k = i % 1000;
    commit;
    perform pg_sleep(greatest(0, extract(epoch from began + i * interval '1 second' / ${COMMITS_PER_SECOND} - clock_timestamp())));
  end loop; end $$`;

const cell = (percent: number) => `${percent.toFixed(2)} %`;

printHeading(`keeper-pass: ${COMMITS_PER_SECOND} commits a second for ${SECONDS} s`);
const folder = freshFolder("a");
const server = await LogPostgres.start();
const keeper = keeperIn(folder);
try {
  await server.query("create table t(k int primary key, v bigint, pad text)");
  await server.query("insert into t select g, 0, repeat('x', 200) from generate_series(0, 999) g");
  keeper.start();
  await keeper.loaded();
  const percentOf = async (work: () => Promise<unknown>) => {
    Bun.gc(true);
    const before = cpuNsOfAllThreads(process.pid);
    const startedAt = performance.now();
    await work();
    const ms = performance.now() - startedAt;
    return ((cpuNsOfAllThreads(process.pid) - before) / NS_PER_MS / ms) * 100;
  };
  const idle = () => Bun.sleep(SECONDS * MS_PER_SECOND);
  const without = await percentOf(idle);
  const log = { folder: server.log, isAwake: true, segmentBytes: SEGMENT_BYTES };
  await keeper.archives.announce("a", { engine: ENGINE, log });
  for (let pass = 0; pass < WARM_UP_PASSES; pass += 1) {
    await server.query(`update t set v = v + 1 where k < 10 + ${pass % 10}`);
    await keeper.archives.flush("a");
  }
  const waiting = await percentOf(idle);
  const lsn = keeper.archives.state("a")?.log?.watermark.lsn;
  const shipping = await percentOf(() => server.query(COMMITS));
  printColumns("processor");
  printRow("no log (baseline)", cell(without));
  printRow("the log of an awake, idle Postgres", cell(waiting));
  printRow(`the log of ${COMMITS_PER_SECOND} commits a second`, cell(shipping));
  printRow("log shipped", `${lsn} to ${keeper.archives.state("a")?.log?.watermark.lsn}`);
  printTarget("processor for one log", shipping - without, TARGET_PERCENT, cell);
} finally {
  await keeper.close();
  await server.remove();
  removeFolder(folder);
}
