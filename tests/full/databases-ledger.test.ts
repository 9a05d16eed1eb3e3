// A long run of kills at random moments; at its end every confirmed commit is there and the engine finds no damage.
// PILVI_TEST_SEED repeats a run.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { disasters } from "../crash/databases-disasters.ts";
import { Ledger } from "../crash/ledger.ts";
import { shortened } from "../crash/share.ts";
import {
  connectMysql,
  connectPgAdmin,
  createCluster,
  MYSQL,
  POSTGRES,
  untilCluster,
  startDatabases,
} from "../support/pilvi/databases.ts";
import { type TestPilvi } from "../support/pilvi/pilvi.ts";

const ROUNDS = shortened(30);
const MOST_COMMITS_BETWEEN = 200;

const seed = Number(process.env.PILVI_TEST_SEED ?? Date.now() % 1_000_000);

let pilvi: TestPilvi;

beforeAll(async () => {
  console.log(`PILVI_TEST_SEED=${seed}`);
  pilvi = await startDatabases();
});

afterAll(async () => {
  await pilvi.close();
});

test.each([POSTGRES, MYSQL])(
  "%s survives a long run of kills",
  async (type) => {
    const random = randomFrom(seed);
    const cluster = await createCluster(pilvi, { type });
    const ledger = await Ledger.begin(cluster, 4);
    const strikes = Object.entries(disasters);
    for (let round = 0; round < ROUNDS; round++) {
      await ledger.advance(1 + random(MOST_COMMITS_BETWEEN));
      const [name, strike] = strikes[random(strikes.length)] ?? [];
      console.log(`round ${round}: ${name}`);
      await strike?.(pilvi, cluster);
      await ledger.check();
    }
    await ledger.stop();
    await untilCluster(pilvi, cluster.id, "available");
    if (type === POSTGRES) await expectSoundPostgres(cluster);
    else await expectSoundMysql(cluster);
  },
  600_000,
);

/** Checks every table and index of the customer's database. */
async function expectSoundPostgres(cluster: DatabaseClusterResource): Promise<void> {
  const admin = await connectPgAdmin(pilvi, cluster, "main");
  await admin.query("create extension amcheck");
  const relations = "select c.oid from pg_class c join pg_namespace n on n.oid = relnamespace";
  const { rows } = await admin.query(
    `select * from (${relations} where relkind = 'r' and nspname <> 'information_schema') t, verify_heapam(t.oid)`,
  );
  expect(rows).toEqual([]);
  await admin.query(
    `select bt_index_check(t.oid, true) from (${relations} join pg_am a on a.oid = relam where amname = 'btree') t`,
  );
  await admin.end();
}

async function expectSoundMysql(cluster: DatabaseClusterResource): Promise<void> {
  const connection = await connectMysql(cluster);
  const [rows] = await connection.query("check table ledger extended");
  expect(rows).toMatchObject([{ Msg_type: "status", Msg_text: "OK" }]);
  await connection.end();
}

/** Whole numbers below a bound, the same numbers for the same seed. */
function randomFrom(start: number): (bound: number) => number {
  let state = start;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}
