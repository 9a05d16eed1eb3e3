// The programs psql, pgbench and pg_dump at a Postgres that sleeps, wakes, and is asked to sleep meanwhile; each way of
// libpq to connect.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { createCluster, createDatabase, loginOf, POSTGRES } from "../support/pilvi/databases.ts";
import { libpqs } from "../support/clients/libpq.ts";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { runProgram } from "../support/clients/programs.ts";
import { Sleeper, writeAuthority } from "../support/pilvi/sleepers.ts";
import { TerminalProgram } from "../support/pilvi/terminal.ts";

const WAKER = { user: "app", database: "main", application: "psql" };
/** The machine's `pg_dump` reads versions up to its own. */
const DUMPER = /\d+/.exec(await runProgram(["pg_dump", "--version"]))?.[0];
const folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-libpq-"));

let pilvi: TestPilvi;
let cluster: DatabaseClusterResource;
let sleeper: Sleeper;
let authority: string;
let env: Record<string, string>;

beforeAll(async () => {
  pilvi = await startPilvi();
  cluster = await createCluster(pilvi, { type: POSTGRES });
  sleeper = new Sleeper(pilvi, cluster);
  authority = await writeAuthority(pilvi);
  const { host, port, user, password } = loginOf(cluster);
  env = {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: "main",
    HOME: folder,
  };
});

afterAll(async () => {
  await pilvi.close();
  rmSync(folder, { recursive: true });
});

/** Runs statements or commands of psql, and returns its output. */
function psql(commands: string | string[], settings: Record<string, string> = {}, way = ""): Promise<string> {
  const options = ["-d", way, ...[commands].flat().flatMap((command) => ["-c", command])];
  return runProgram(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", ...options], { ...env, ...settings });
}

function bench(...options: string[]): Promise<string> {
  return runProgram(["pgbench", ...options], env);
}

/** How psql connects, and the first version of libpq that knows how; the machine's own serves for the others. */
const WAYS: [string, since?: number][] = [
  ["sslmode=disable"],
  ["sslmode=disable channel_binding=disable"],
  // Speaks TLS only where plain text is refused, and loopback accepts plain text.
  ["sslmode=allow"],
  ["sslmode=prefer"],
  ["sslmode=require channel_binding=disable"],
  ["sslmode=require channel_binding=require"],
  ["sslmode=verify-ca"],
  ["sslmode=verify-full channel_binding=require"],
  ["sslmode=verify-full host=localhost"],
  ["sslmode=verify-full sslnegotiation=direct channel_binding=require", 17],
  ["sslmode=require min_protocol_version=3.2 max_protocol_version=3.2", 18],
];

describe.each(libpqs(folder))("psql with $name", ({ major, env: library }) => {
  const ways = WAYS.filter(([, since = 0]) => (since === 0) === (major === 0) && since <= major);

  test.each(ways)("connects with %s", async (way) => {
    const all = { ...library, PGSSLROOTCERT: authority };
    const printed = await sleeper.wokenBy(WAKER, () => psql("\\conninfo", all, way));
    expect(printed.includes("protocol: TLSv1.3")).toBe(!/sslmode=(disable|allow)/.test(way));
    expect(await psql("select 6 * 7", all, way)).toBe("42\n");
  });
});

test("psql wakes no cluster with a refused login", async () => {
  const refused: [Record<string, string>, string][] = [
    [{ PGPASSWORD: "wrong" }, 'password authentication failed for user "app"'],
    [{ PGPASSWORD: "wrong", PGSSLMODE: "disable" }, 'password authentication failed for user "app"'],
    [{ PGUSER: "nobody" }, 'password authentication failed for user "nobody"'],
    [{ PGSSLMODE: "disable", PGCHANNELBINDING: "require" }, "channel binding"],
    [{ PGSSLMODE: "verify-full", PGSSLROOTCERT: "" }, "root certificate file"],
  ];
  for (const [settings, complaint] of refused) {
    const said = await sleeper.sleepsThrough(() => psql("select 1", settings).catch(String));
    expect(said).toContain(complaint);
  }
});

test("pg_isready finds a sleeping cluster ready without waking it", async () => {
  const { PGPASSWORD: _, ...withoutPassword } = env;
  const printed = await sleeper.sleepsThrough(() => runProgram(["pg_isready"], withoutPassword));
  expect(printed).toContain("accepting connections");
});

test("psql: a missing database gives the engine's error, and \\c goes on to another database", async () => {
  await expect(psql("select 1", { PGDATABASE: "nowhere" })).rejects.toThrow(
    'database "nowhere" does not exist',
  );
  expect(await psql(["\\c postgres", "select current_database()"])).toBe("postgres\n");
});

test("psql: several statements, prepared ones, errors, large values, and COPY both ways", async () => {
  const file = join(folder, "numbers.tsv");
  const lines = Array.from({ length: 50_000 }, (_, index) => `${index}\ttext ${index} é 東京\n`).join("");
  writeFileSync(file, lines);
  await psql("create table numbers (n int primary key, t text)");
  await sleeper.wokenBy(WAKER, () => psql(`\\copy numbers from '${file}'`));
  await sleeper.wokenBy(WAKER, () => psql(`\\copy (select * from numbers order by n) to '${file}.copy'`));
  expect(readFileSync(`${file}.copy`, "utf8") === lines).toBe(true);
  const statements = "begin; insert into numbers values (-1, 'x'); rollback; select count(*) from numbers";
  expect(await psql(statements)).toBe("50000\n");
  expect(await psql("prepare p as select $1::int + 1; execute p(41); execute p(1)")).toBe("42\n2\n");
  expect((await psql("select repeat('ab', 16000000)")).length).toBe(32_000_001);
  await expect(psql("insert into numbers values (1, 'twice')")).rejects.toThrow("duplicate key value");
});

test("psql: notifications arrive", async () => {
  const printed = await psql("listen news; notify news, 'moi'");
  expect(printed).toContain('Asynchronous notification "news" with payload "moi"');
});

test("psql at a terminal: goes on by itself after a sleep, and Ctrl-C cancels", async () => {
  await sleeper.sleep();
  const terminal = new TerminalProgram(["psql", "-X", "--no-readline", "-P", "pager=off"], env);
  try {
    terminal.type("select 'first';");
    await terminal.shows("(1 row)");
    await sleeper.sleep();
    terminal.type("select 'lost';");
    await terminal.shows("terminating connection due to idle suspension");
    await terminal.shows("Succeeded");
    terminal.type("select 6 * 7 as answer;");
    expect(await terminal.shows("(1 row)")).toContain("42");
    terminal.type("select 'slow', pg_sleep(100);");
    const isSlow =
      "select count(*) from pg_stat_activity where query like 'select ''slow%' and wait_event = 'PgSleep'";
    await until("the query runs", async () => (await psql(isSlow)) === "1\n");
    terminal.interrupt();
    await terminal.shows("canceling statement due to user request");
    terminal.type("select 'again';");
    await terminal.shows("(1 row)");
  } finally {
    await terminal.close();
  }
});

describe("pgbench", () => {
  const waker = { ...WAKER, application: "pgbench" };

  test("fills its tables, and runs its transactions, at a sleeping cluster", async () => {
    await sleeper.wokenBy(waker, () => bench("--initialize", "--quiet"));
    for (const mode of [
      ["-b", "select-only", "-M", "prepared"],
      ["-b", "tpcb-like"],
    ]) {
      const said = await sleeper.wokenBy(waker, () => bench("-n", "-c", "4", "-t", "25", ...mode));
      expect(said).toContain("number of transactions actually processed: 100/100");
    }
  });

  test("loses no connection and no transaction to sleeps meanwhile", async () => {
    const before = (await sleeper.state()).wakes;
    let transactions = 100;
    // On a busy machine one load meets few sleeps.
    while ((await sleeper.state()).wakes <= before + 2) {
      const load = { isOver: false };
      const run = bench("-n", "-C", "-c", "2", "-t", "20", "--rate=15").finally(() => (load.isOver = true));
      // A suspend that is refused because clients keep coming tests as much.
      while (!load.isOver) expect([200, 409]).toContain((await sleeper.suspend()).status);
      expect(await run).toContain("number of transactions actually processed: 40/40");
      transactions += 40;
    }
    expect(await psql("select count(*) from pgbench_history")).toBe(`${transactions}\n`);
  });
});

test("pg_dump with several connections, and pg_restore, at a sleeping cluster", async () => {
  const source = await createCluster(pilvi, { version: DUMPER });
  const asleep = new Sleeper(pilvi, source);
  const target = { ...env, PGPORT: String(loginOf(source).port), PGPASSWORD: loginOf(source).password };
  const dump = join(folder, "dump");
  await createDatabase(pilvi, source.id, "copy");
  const tables = ["one", "two", "three"].map(
    (name) => `create table ${name} as select n, md5(n::text) from generate_series(1, 5000) n`,
  );
  await psql(tables, target);
  await asleep.wokenBy({ ...WAKER, application: "pg_dump" }, () =>
    runProgram(["pg_dump", "-Fd", "-j", "3", "-f", dump], target),
  );
  await asleep.wokenBy({ ...WAKER, database: "copy", application: "pg_restore" }, () =>
    runProgram(["pg_restore", "-j", "3", "-d", "copy", dump], target),
  );
  const sum = "select count(*), md5(string_agg(three::text, ',' order by n)) from three";
  const restored = await psql(sum, { ...target, PGDATABASE: "copy" });
  expect(restored).toStartWith("5000|");
  expect(restored).toBe(await psql(sum, target));
});
