// Commits that a cluster confirmed survive any kill, behind the same address and credentials.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  firstOf,
  firstOfMysql,
  MYSQL,
  POSTGRES,
  untilAnswers,
  untilCluster,
  startDatabases,
} from "../support/pilvi/databases.ts";
import { type TestPilvi } from "../support/pilvi/pilvi.ts";
import { disasters } from "../crash/databases-disasters.ts";
import { Ledger } from "../crash/ledger.ts";

/** Enough commits between two kills for each kill to hit a write. */
const COMMITS_BETWEEN = 20;

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startDatabases();
});

afterAll(async () => {
  await pilvi.close();
});

describe.each([POSTGRES, MYSQL])("%s", (type) => {
  let cluster: DatabaseClusterResource;
  let ledger: Ledger;

  beforeAll(async () => {
    cluster = await createCluster(pilvi, { type });
    ledger = await Ledger.begin(cluster);
  });

  afterAll(async () => {
    await ledger.stop();
  });

  test.each(Object.entries(disasters))("keeps what it confirmed: %s", async (_, strike) => {
    await ledger.advance(COMMITS_BETWEEN);
    await strike(pilvi, cluster);
    await untilAnswers(cluster);
    await ledger.advance(COMMITS_BETWEEN);
    await ledger.check();
    const after = await untilCluster(pilvi, cluster.id, "available");
    expect(after.attributes.connection).toEqual(cluster.attributes.connection);
  });

  test("has the settings in force that durability takes", async () => {
    if (type === MYSQL) await expectMysqlSettings(cluster);
    else await expectPostgresSettings(cluster);
  });
});

async function expectPostgresSettings(cluster: DatabaseClusterResource): Promise<void> {
  const client = await connectPg(cluster);
  const settings = ["fsync", "synchronous_commit", "full_page_writes", "data_checksums"];
  for (const name of settings) expect(await firstOf(client, `show ${name}`), name).toBe("on");
  await client.end();
}

async function expectMysqlSettings(cluster: DatabaseClusterResource): Promise<void> {
  const connection = await connectMysql(cluster);
  const settings = ["innodb_flush_log_at_trx_commit", "sync_binlog", "innodb_doublewrite"];
  for (const name of settings) expect(await firstOfMysql(connection, `select @@${name}`), name).toBe(1);
  await connection.end();
}
