// Backups of a MariaDB, made hot and cold and restored, while clients write and while they are in the way.
import { afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  clusterOf,
  closeClusters,
  expectFilled,
  expectWritten,
  fill,
  withClient,
  Writer,
  type Cluster,
} from "../../../../tests/support/engines/lone-mariadb.ts";
import type { MadeBackup } from "../../../../tests/support/engines/lone-engine.ts";
import { until } from "../../../../tests/support/pilvi/pilvi.ts";
import { PublicError } from "../../../lib/errors.ts";
import { asAdmin } from "../admin.ts";
import { users } from "../sessions.ts";

afterEach(closeClusters);

/** Restores a backup into a new cluster with another password, and starts it. */
async function restored(backup: MadeBackup): Promise<Cluster> {
  const cluster = await clusterOf("other");
  await cluster.restore(backup);
  await cluster.start();
  return cluster;
}

async function accountsOf({ context }: Cluster): Promise<string[]> {
  return await asAdmin(context, async (db) => {
    const rows = await db.unsafe<{ user: string }[]>(
      "select user from mysql.global_priv order by user, host",
    );
    return rows.map(({ user }) => user);
  });
}

test("a hot backup has all acknowledged writes before its end, and all objects", async () => {
  const cluster = await clusterOf();
  await cluster.start();
  await withClient(cluster, fill);
  const accounts = await accountsOf(cluster);
  const writer = new Writer(cluster);
  await until("some rows are written", () => writer.acknowledged.length > 300);
  const backup = await cluster.hotBackup();
  const { startedAt, completedAt } = backup.facts;
  await until(
    "a row is written after the backup",
    () => writer.before(new Date().toISOString()) > writer.before(completedAt) + 1,
  );
  await writer.stop();
  expect(backup.facts).toMatchObject({ format: "mbstream", users: ["app"], databases: ["main"] });
  // The copy has what was written while it was made.
  expect(Date.parse(completedAt)).toBeGreaterThan(Date.parse(startedAt));
  expect(await accountsOf(cluster)).toEqual(accounts);
  expect(readdirSync(cluster.folder.tmp).filter((name) => /backup/.test(name))).toEqual([]);

  const copy = await restored(backup);
  await withClient(
    copy,
    async (client) => {
      await expectFilled(client);
      await expectWritten(client, writer.before(completedAt));
    },
    "other",
  );
  expect(await accountsOf(copy)).toEqual(accounts);
  await expect(withClient(copy, (client) => client`select 1`)).rejects.toThrow("Access denied");
  expect(readdirSync(copy.folder.data).filter((name) => /backup/.test(name))).toEqual([]);
});

test("a cold backup of a stopped and of a killed cluster is restored", async () => {
  const cluster = await clusterOf();
  await cluster.start();
  await withClient(cluster, fill);
  await cluster.stop();
  const first = await restored(await cluster.coldBackup());
  await withClient(first, expectFilled, "other");

  await cluster.start();
  const writer = new Writer(cluster);
  await until("some rows are written", () => writer.acknowledged.length > 30);
  await writer.stop();
  await cluster.stop("SIGKILL");
  const second = await restored(await cluster.coldBackup());
  await withClient(
    second,
    async (client) => {
      const [found] = await client.unsafe("select count(*) as count from of_innodb");
      expect(Number(found.count)).toBe(Math.ceil(writer.acknowledged.length / 3));
    },
    "other",
  );
});

test("a change of tables that lasts puts the backup off, and others wait for a bounded time", async () => {
  const cluster = await clusterOf();
  await cluster.start();
  await withClient(cluster, async (client) => {
    await fill(client);
    const changing = client.unsafe("create table made as select sleep(12) as slept").execute();
    const hot = await cluster.backup.begin(cluster.context, "snapshot-test", new AbortController().signal);
    const copying = cluster.output(hot.copy);
    await withClient(cluster, async (other) => {
      await other.unsafe("insert into audit (v) values ('meanwhile')");
      await other.unsafe("create table another (id int)");
    });
    await expect(copying).rejects.toThrow("the copy failed");
    expect(hot.explain?.()).toStartWith("A client changes tables");
    await hot.close();
    await changing;
    expect((await cluster.hotBackup()).stream.length).toBeGreaterThan(0);
  });
});

test("a long query and an open transaction do not put the backup off", async () => {
  const cluster = await clusterOf();
  await cluster.start();
  await withClient(cluster, async (client) => {
    await fill(client);
    await client.unsafe("begin");
    await client.unsafe("insert into of_innodb values (1, 'not committed')");
    await withClient(cluster, async (reader) => {
      const reading = reader.unsafe("select count(*), sleep(2) from large").execute();
      const copy = await restored(await cluster.hotBackup());
      await reading;
      await withClient(
        copy,
        async (other) => {
          const [found] = await other.unsafe("select count(*) as count from of_innodb");
          expect(Number(found.count)).toBe(0);
        },
        "other",
      );
    });
  });
});

test("a backup that was given up leaves no account, and one whose host was killed no login", async () => {
  const cluster = await clusterOf();
  await cluster.start();
  const accounts = await accountsOf(cluster);
  // A killed host ends nothing.
  await cluster.backup.begin(cluster.context, "snapshot-first", new AbortController().signal);
  expect(await accountsOf(cluster)).toContain("pilvi-backup");
  expect((await users(cluster.context)).users.map(({ name }) => name)).toEqual(["app"]);
  const hot = await cluster.backup.begin(cluster.context, "snapshot-second", new AbortController().signal);
  await hot.close();
  await hot.close();
  expect(await accountsOf(cluster)).toEqual(accounts);
});

test("a restore that was ended in the middle succeeds when it begins anew", async () => {
  const cluster = await clusterOf();
  await cluster.start();
  await withClient(cluster, fill);
  const backup = await cluster.hotBackup();
  const copy = await clusterOf("other");
  const given = new AbortController();
  const restoring = copy.restore(backup, given.signal);
  await until("the server of the restore runs", () =>
    existsSync(join(copy.folder.path, "work", "engine.pid")),
  );
  given.abort(new PublicError("The host ends."));
  await expect(restoring).rejects.toThrow("The host ends.");
  copy.clear();
  await copy.restore(backup);
  await copy.start();
  await withClient(copy, expectFilled, "other");
});
