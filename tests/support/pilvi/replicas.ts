// A cluster with read replicas for tests: statements at it and at its replicas, and waits for what they show.
import { join } from "node:path";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import { connectPg, firstOf, type ClusterDocument } from "./databases.ts";
import { until, type TestPilvi } from "./pilvi.ts";

export type Replica = DatabaseClusterResource["meta"]["replicas"][number];

/** A replica begins with the first backup of its cluster, which takes a while on a busy machine. */
const TIMEOUT_MS = 150_000;

const COUNT = "select count(*)::int from kept";

export class ReplicatedCluster {
  readonly id: string;
  readonly #pilvi: TestPilvi;
  #cluster: DatabaseClusterResource;

  constructor(pilvi: TestPilvi, cluster: DatabaseClusterResource) {
    this.id = cluster.id;
    this.#pilvi = pilvi;
    this.#cluster = cluster;
  }

  /** The cluster's own port. */
  get port(): number {
    return this.#cluster.attributes.connection.port;
  }

  /** Makes the table `kept` with a row, and waits for the replicas. */
  async begin(count: number): Promise<void> {
    await this.run("create table kept (id int)");
    await this.run("insert into kept values (1)");
    await this.untilAvailable(count);
  }

  /** Reads the cluster; later statements use the password that it has by now. */
  async read(): Promise<DatabaseClusterResource> {
    const { body } = await this.#pilvi.api<ClusterDocument>("GET", `/databases/clusters/${this.id}`);
    return (this.#cluster = body.data);
  }

  /** Waits until the cluster has as many replicas, and each of them is available. */
  async untilAvailable(count: number): Promise<Replica[]> {
    let replicas: Replica[] = [];
    const areThere = async () => {
      ({ replicas } = (await this.read()).meta);
      return replicas.length === count && replicas.every(({ status }) => status === "available");
    };
    await until(`${count} replicas are available`, areThere, TIMEOUT_MS);
    return replicas;
  }

  async firstReplica(): Promise<Replica> {
    const [replica] = (await this.read()).meta.replicas;
    if (replica === undefined) throw new Error("there is no replica");
    return replica;
  }

  /** The first column of the first row, as the cluster's user at the port. */
  async run(sql: string, port = this.port): Promise<unknown> {
    const client = await connectPg(this.#cluster, { port });
    try {
      return await firstOf(client, sql);
    } finally {
      await client.end();
    }
  }

  /** Waits until the replica at the port shows as many rows as the cluster has. */
  async untilShown(port: number): Promise<void> {
    const wanted = await this.run(COUNT);
    const isShown = async () => (await this.run(COUNT, port).catch(() => null)) === wanted;
    await until("the replica shows all rows", isShown, TIMEOUT_MS);
  }

  /** Changes members of the config. @returns the status of the answer. */
  async change(config: object): Promise<number> {
    return (await this.#pilvi.api("PATCH", `/databases/clusters/${this.id}`, { config })).status;
  }

  /** The folder of an instance of the cluster. */
  folderOf(id: string): string {
    return join(this.#pilvi.dataDir, "instances", id);
  }
}
