// The limit of a cluster's sessions: customers have all of them while Pilvi is logged in too, and a session beyond it
// gets the engine's own words.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectMysqlAdmin,
  connectPg,
  connectPgAdmin,
  createCluster,
  MYSQL,
  POSTGRES,
  startDatabases,
} from "../../support/pilvi/databases.ts";
import type { TestPilvi } from "../../support/pilvi/pilvi.ts";

/** A change, a backup and a look at the same time. */
const OF_PILVI = 3;
/** How many sessions an engine may give beyond the limit, so that Pilvi's own take none from it. */
const SPARE = 5;

interface Session {
  end(): Promise<void>;
}

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startDatabases();
});
afterAll(async () => await pilvi.close());

test.each([
  ["Postgres", POSTGRES, connectPg, connectPgAdmin, { code: "53300" }],
  ["MySQL", MYSQL, connectMysql, connectMysqlAdmin, { errno: 1040 }],
] as const)(
  "a %s has as many sessions as its limit says while Pilvi is logged in",
  async (_, type, connect, connectAdmin, refusal) => {
    const cluster: DatabaseClusterResource = await createCluster(pilvi, { type });
    const most = cluster.meta.limits?.max_connections ?? 0;
    expect(most).toBeGreaterThan(10);
    const sessions: Session[] = [];
    const open = async (count: number, one: () => Promise<Session>) => {
      sessions.push(...(await Promise.all(Array.from({ length: count }, one))));
    };
    await open(OF_PILVI, () => connectAdmin(pilvi, cluster));
    await open(most, () => connect(cluster));
    const beyond = async () => {
      for (let extra = 0; extra <= SPARE; extra += 1) await open(1, () => connect(cluster));
    };
    await expect(beyond()).rejects.toMatchObject(refusal);
    await Promise.all(sessions.map((session) => session.end()));
  },
);
