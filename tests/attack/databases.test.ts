// Customers who change their own password, role and databases by SQL: the cluster ends available with its published
// credentials.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import type { DatabaseType } from "../../src/resources/databases/types.ts";
import { pathOf, putToSleep } from "../crash/sleepers.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  createDatabase,
  databaseNames,
  deleteCluster,
  deleteDatabase,
  MYSQL,
  POSTGRES,
  processesOf,
  startDatabases,
  untilAnswers,
  untilCluster,
} from "../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import attacks from "./data/databases.json";

/** Statements that a session tries, also statements that the engine refuses. */
interface Attack {
  name: string;
  engine: string;
  statements: string[];
  /** `main` when left out; the API makes `made` before the attack and deletes it after. */
  database?: string;
  /** Whether the session stays connected while the API makes and deletes databases. */
  holdsSession?: boolean;
}

const CLUSTERS: { name: string; engine: string; type: DatabaseType; version?: string }[] = [
  { name: "Postgres 14", engine: "postgres", type: POSTGRES, version: "14" },
  { name: "Postgres 18", engine: "postgres", type: POSTGRES, version: "18" },
  { name: "MariaDB", engine: "mysql", type: MYSQL },
];

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startDatabases();
});

afterAll(() => pilvi.close());

/** Runs the statements that are not refused. @returns what ends the session. */
async function carryOut({ database = "main", statements }: Attack, cluster: DatabaseClusterResource) {
  if (cluster.attributes.connection.protocol === "postgres") {
    const client = await connectPg(cluster, { database });
    for (const statement of statements) await client.query(statement).catch(() => undefined);
    return () => client.end().catch(() => undefined);
  }
  const connection = await connectMysql(cluster, { database });
  for (const statement of statements) await connection.query(statement).catch(() => undefined);
  return () => connection.end().catch(() => undefined);
}

async function crash(cluster: DatabaseClusterResource): Promise<void> {
  const [engine] = processesOf(pilvi, cluster.id);
  if (engine === undefined) throw new Error(`${cluster.id} does not run`);
  killIfThere(engine);
  await until(`${cluster.id} has another engine`, () => {
    const [now] = processesOf(pilvi, cluster.id);
    return now !== undefined && now !== engine;
  });
}

/** Waits until a login works in the database that every user may enter, which wakes the cluster. */
async function untilWoken(cluster: DatabaseClusterResource): Promise<void> {
  const isPostgres = cluster.attributes.connection.protocol === "postgres";
  await until(`${cluster.id} takes its published password`, async () => {
    try {
      if (isPostgres) await (await connectPg(cluster, { database: "postgres" })).end();
      else await (await connectMysql(cluster, { database: "information_schema" })).end();
      return true;
    } catch {
      return false;
    }
  });
}

describe.each(CLUSTERS)("on $name", ({ engine, type, version }) => {
  let cluster: DatabaseClusterResource;

  beforeAll(async () => {
    cluster = await createCluster(pilvi, { type, ...(version !== undefined && { version }) });
  });

  afterAll(() => deleteCluster(pilvi, cluster.id));

  const own: Attack[] = attacks;
  test.each(own.filter((attack) => attack.engine === engine))(
    "$name costs nobody the cluster",
    async (attack) => {
      const made = await createDatabase(pilvi, cluster.id, "made");
      const end = await carryOut(attack, cluster);
      if (attack.holdsSession !== true) await end();
      const next = await createDatabase(pilvi, cluster.id, "next");
      await deleteDatabase(pilvi, cluster.id, made);
      await end();
      await putToSleep(pilvi, cluster);
      await untilWoken(cluster);
      await crash(cluster);
      const { meta } = await untilCluster(pilvi, cluster.id, "available");
      expect(meta.last_error ?? "").not.toContain("could not start");
      await untilAnswers(cluster);
      await deleteDatabase(pilvi, cluster.id, next);
      expect(await databaseNames(cluster)).not.toContain("made");
      expect((await pilvi.api("GET", pathOf(cluster))).status).toBe(200);
    },
  );
});
