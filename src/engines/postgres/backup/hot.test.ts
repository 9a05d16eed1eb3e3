// Backups of a running Postgres, restored to the moment that they are consistent at.
import { afterAll, describe, expect, test } from "bun:test";
import { until } from "../../../../tests/support/pilvi/pilvi.ts";
import { PublicError } from "../../../lib/errors.ts";
import { backup } from "./index.ts";
import { readdirSync } from "node:fs";
import {
  backUpHot,
  cleanUp,
  Cluster,
  enginesUnderTest,
} from "../../../../tests/support/engines/postgres-cluster.ts";
import { Restore } from "../../../../tests/support/engines/postgres-restore.ts";

afterAll(cleanUp);

const WRITERS = 3;
const SLOTS = "select count(*)::int as slots from pg_replication_slots";

/** Commits rows until its end is asked for. */
class Writer {
  readonly acknowledged: number[] = [];
  readonly begun: number[] = [];
  #isOver = false;
  readonly #done: Promise<void>;

  constructor(cluster: Cluster, first: number) {
    this.#done = this.#write(cluster, first);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }

  async #write(cluster: Cluster, first: number): Promise<void> {
    const db = cluster.client();
    for (let id = first; !this.#isOver; id += WRITERS) {
      this.begun.push(id);
      await db.begin(async (tx) => {
        await tx`insert into log (id) values (${id})`;
        await tx`update sums set total = total + 1`;
      });
      this.acknowledged.push(id);
    }
    await db.close();
  }
}

const TABLES = [
  "create table log (id int primary key, filler text default repeat('moi', 200))",
  "create table sums (total int)",
  "insert into sums values (0)",
  "create unlogged table scratch (id int)",
  "insert into scratch values (1)",
  "create sequence numbers",
  "select nextval('numbers') from generate_series(1, 100)",
];

describe.each(await enginesUnderTest())("Postgres %s", (_, installed) => {
  test("a backup under writers is restored whole, from its stream alone", async () => {
    const cluster = await Cluster.start(installed, [], { keepsLog: false });
    const db = cluster.client();
    for (const statement of TABLES) await db.unsafe(statement);
    await db.unsafe("create database others");
    await cluster.sql("create role somebody login");
    const others = cluster.client("others");
    await others.unsafe("create table kept as select * from generate_series(1, 1000) id");
    await Promise.all([db.close(), others.close()]);

    const writers = [...Array(WRITERS).keys()].map((index) => new Writer(cluster, index));
    let before: number[] = [];
    const stored = await backUpHot(cluster, async () => {
      // A checkpoint in the middle makes the engine forget the log before it.
      await cluster.sql("checkpoint");
      before = writers.flatMap(({ acknowledged }) => acknowledged);
    });
    const begun = new Set(writers.flatMap((writer) => writer.begun));
    await Promise.all(writers.map((writer) => writer.end()));
    await cluster.stop();
    expect(stored.facts).toMatchObject({ format: "tar", isHot: true, databases: ["main", "others"] });
    expect(stored.facts.users).toEqual(["app", "somebody"]);
    expect(stored.facts.completedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(stored.facts.startedAt < stored.facts.completedAt).toBe(true);

    const restore = await Restore.unpack(installed, stored);
    const { reachedLsn } = await restore.recover({ kind: "immediate" });
    expect(reachedLsn).toBe(stored.facts.postgres?.endLsn ?? null);
    expect(restore.shares.at(-1)).toBe(1);
    expect(readdirSync(restore.dataDir)).not.toContain("backup_label.old");
    const copy = await restore.start([], { keepsLog: false });
    const ids = (await copy.sql<{ id: number }>("select id from log")).map(({ id }) => id);
    expect(before.length).toBeGreaterThan(0);
    expect(before.filter((id) => !ids.includes(id))).toEqual([]);
    expect(ids.filter((id) => !begun.has(id))).toEqual([]);
    expect(await copy.sql("select total from sums")).toEqual([{ total: ids.length }]);
    expect(await copy.sql("select count(*)::int as rows from scratch")).toEqual([{ rows: 0 }]);
    const [next] = await copy.sql<{ next: string }>("select nextval('numbers')::int as next");
    expect(Number(next?.next)).toBeGreaterThan(100);
    expect(await copy.sql("select count(*)::int as rows from kept", "others")).toEqual([{ rows: 1_000 }]);
    expect(await copy.sql("select slot_name from pg_replication_slots")).toEqual([]);
    await copy.stop();
  });

  test("a backup that was given up leaves nothing, and a restart during a backup makes it fail", async () => {
    const cluster = await Cluster.start(installed, [], { keepsLog: false });
    const givenUp = await backup.begin(cluster.context, "snapshot-1", new AbortController().signal);
    const other = await backup.begin(cluster.context, "snapshot-2", new AbortController().signal);
    expect(await cluster.sql(SLOTS)).toEqual([{ slots: 2 }]);
    for (const copy of [givenUp, givenUp, other]) await copy.close();
    await until(
      "the sessions are over",
      async () => (await cluster.sql<{ slots: number }>(SLOTS))[0]?.slots === 0,
    );

    const lost = await backup.begin(cluster.context, "snapshot-3", new AbortController().signal);
    await cluster.kill();
    await cluster.run();
    expect(await lost.end().catch((error: unknown) => error)).toBeInstanceOf(Error);
    await lost.close();
    expect((await backUpHot(cluster)).facts.isHot).toBe(true);
    await cluster.stop();
    expect(
      await backup
        .begin(cluster.context, "snapshot-4", new AbortController().signal)
        .catch((error: unknown) => error),
    ).toBeInstanceOf(Error);
  });

  test("the data of a killed Postgres is not copied cold", async () => {
    const cluster = await Cluster.start(installed);
    await cluster.kill();
    expect(await backup.cold(cluster.context).catch((error: unknown) => error)).toBeInstanceOf(PublicError);
  });
});
