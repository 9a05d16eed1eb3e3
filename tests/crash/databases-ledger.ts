// A ledger of acknowledged writes: writers that note, outside of the database, every commit that the engine confirmed.
import { expect } from "bun:test";
import type { DatabaseResource } from "../../src/resources/databases/schema.ts";
import { connectMysql, connectPg } from "../support/databases.ts";
import { until } from "../support/pilvi.ts";

/** Writes one number a commit until it is stopped, over sessions that are opened anew when they break. */
export class Ledger {
  readonly #cluster: DatabaseResource;
  readonly #acknowledged = new Set<number>();
  readonly #writers: Promise<void>[];
  #next = 0;
  #isStopping = false;

  private constructor(cluster: DatabaseResource, writers: number) {
    this.#cluster = cluster;
    this.#writers = Array.from({ length: writers }, () => this.#write());
  }

  /** Makes the table and begins to write. */
  static async begin(cluster: DatabaseResource, writers = 2): Promise<Ledger> {
    const session = await openSession(cluster);
    await session.run("create table ledger (n int primary key)");
    await session.end();
    return new Ledger(cluster, writers);
  }

  /** Waits until so many more commits were confirmed, which shows that the cluster takes writes. */
  async advance(count: number): Promise<void> {
    const goal = this.#acknowledged.size + count;
    await until(`${count} more commits are confirmed`, () => this.#acknowledged.size >= goal, 60_000);
  }

  /** Checks that every confirmed commit is there, and that nothing is there that nobody ever wrote. */
  async check(): Promise<void> {
    const acknowledged = [...this.#acknowledged];
    const stored = new Set(await this.#stored());
    expect(acknowledged.filter((n) => !stored.has(n))).toEqual([]);
    expect([...stored].filter((n) => n >= this.#next)).toEqual([]);
  }

  /** Ends the writers. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#writers);
  }

  /** A process that was just killed may not have been missed yet, so the first answer need not be the last. */
  async #stored(): Promise<number[]> {
    let numbers: number[] | undefined;
    await until(
      "the ledger can be read",
      async () => {
        numbers = await this.#read().catch(() => undefined);
        return numbers !== undefined;
      },
      60_000,
    );
    return numbers ?? [];
  }

  async #read(): Promise<number[]> {
    const session = await openSession(this.#cluster);
    return await session.numbers("select n from ledger").finally(() => session.end());
  }

  async #write(): Promise<void> {
    while (!this.#isStopping) {
      try {
        const session = await openSession(this.#cluster);
        await this.#writeUntilItBreaks(session).finally(() => session.end());
      } catch {
        // The engine is on its way down or up again. What was not confirmed may be there or not.
        await Bun.sleep(2);
      }
    }
  }

  async #writeUntilItBreaks(session: Session): Promise<void> {
    while (!this.#isStopping) {
      const n = this.#next++;
      await session.run(`insert into ledger values (${n})`);
      this.#acknowledged.add(n);
    }
  }
}

/** What the ledger needs of a session, whatever the protocol. */
interface Session {
  run(sql: string): Promise<unknown>;
  numbers(sql: string): Promise<number[]>;
  end(): Promise<void>;
}

async function openSession(cluster: DatabaseResource): Promise<Session> {
  if (cluster.attributes.connection.protocol === "postgres") {
    const client = await connectPg(cluster);
    return {
      run: (sql) => client.query(sql),
      numbers: async (sql) => (await client.query<{ n: number }>(sql)).rows.map(({ n }) => n),
      end: () => client.end(),
    };
  }
  const connection = await connectMysql(cluster);
  connection.on("error", () => undefined);
  return {
    run: (sql) => connection.query(sql),
    async numbers(sql) {
      const [rows] = await connection.query({ sql, rowsAsArray: true });
      return Array.isArray(rows) ? rows.flat().map(Number) : [];
    },
    end: async () => connection.destroy(),
  };
}
