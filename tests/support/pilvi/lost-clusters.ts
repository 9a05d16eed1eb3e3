// Clusters that a lost machine takes along: a MySQL with a window, and a Postgres with a read replica.
import { expect } from "bun:test";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import { connectMysql, createCluster, firstOfMysql, MYSQL, type ClusterDocument } from "./databases.ts";
import { until, type TestPilvi } from "./pilvi.ts";
import { ReplicatedCluster } from "./replicas.ts";

const WINDOW_TIMEOUT_MS = 150_000;

const COUNT = "select count(*) from notes";

export class LostClusters {
  readonly #mysql: DatabaseClusterResource;
  readonly #replicated: DatabaseClusterResource;
  readonly #postgres: ReplicatedCluster;

  private constructor(mysql: DatabaseClusterResource, replicated: DatabaseClusterResource, pilvi: TestPilvi) {
    this.#mysql = mysql;
    this.#replicated = replicated;
    this.#postgres = new ReplicatedCluster(pilvi, replicated);
  }

  /** Creates the clusters, with a row each, and waits until their windows have begun. */
  static async make(pilvi: TestPilvi): Promise<LostClusters> {
    const mysql = await createCluster(pilvi, {
      name: "lost-mysql",
      type: MYSQL,
      config: { uses_scheduled_snapshots: true, retention_days: 1 },
    });
    const replicated = await createCluster(pilvi, {
      name: "lost-replicated",
      type: "provider_managed_postgres",
      config: { size: "db.t4g.small", uses_pitr: true, read_replicas: 1 },
    });
    const clusters = new LostClusters(mysql, replicated, pilvi);
    await clusters.#postgres.begin(1);
    await inMysql(mysql, "create table notes as select seq as id from seq_1_to_1000");
    const windowOf = async () => {
      const path = `/databases/clusters/${mysql.id}`;
      const { supports_pitr: isOn, earliest_restore_time: earliest } = (
        await pilvi.api<ClusterDocument>("GET", path)
      ).body.data.attributes;
      return isOn === "true" && Date.parse(earliest) <= Date.now();
    };
    await until("the window of the MySQL begins", windowOf, WINDOW_TIMEOUT_MS);
    return clusters;
  }

  /** Writes to all of them what only their logs have. */
  async write(): Promise<void> {
    await inMysql(this.#mysql, "insert into notes select seq from seq_1001_to_1500");
    await this.#postgres.run("insert into kept select generate_series(2, 500)");
  }

  /** The clusters have all that was written, at their former addresses, and the replica follows. */
  async expectBack(pilvi: TestPilvi): Promise<void> {
    expect(Number(await inMysql(this.#mysql, COUNT))).toBe(1500);
    const back = new ReplicatedCluster(pilvi, this.#replicated);
    expect(await back.run("select count(*)::int from kept")).toBe(500);
    // What is written from now on is on another timeline than the backup.
    await back.run("insert into kept values (501)");
    const [replica] = await back.untilAvailable(1);
    await back.untilShown(replica?.port ?? 0);
  }
}

async function inMysql(cluster: DatabaseClusterResource, sql: string): Promise<unknown> {
  const connection = await connectMysql(cluster);
  try {
    return await firstOfMysql(connection, sql);
  } finally {
    await connection.end();
  }
}
