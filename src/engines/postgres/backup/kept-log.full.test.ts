// A Postgres that keeps its log: the slot, what it keeps, and who may read it.
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { postgres } from "../index.ts";
import { backup } from "./index.ts";
import {
  cleanUp,
  Cluster,
  enginesUnderTest,
  READER,
  segmentsIn,
} from "../../../../tests/support/engines/postgres-cluster.ts";

afterAll(cleanUp);

const SLOTS = "select slot_name::text as name, wal_status::text as status from pg_replication_slots";

/** Fills segments of the log until some are complete. */
async function fillLog(cluster: Cluster): Promise<void> {
  await cluster.sql("create table if not exists filler (id int)");
  await cluster.sql("insert into filler select generate_series(1, 200000)");
  await cluster.sql("checkpoint");
}

/** Whether another user can read a file. */
function canRead(path: string): boolean {
  const { exitCode } = Bun.spawnSync(["/usr/bin/head", "-c", "1", path], {
    stdio: ["ignore", "ignore", "ignore"],
    ...READER,
  });
  return exitCode === 0;
}

describe.each(await enginesUnderTest())("Postgres %s", (_, installed) => {
  test("a log is kept until it is released, over stops, and no longer when the spec says so", async () => {
    const cluster = await Cluster.start(installed);
    expect(await cluster.sql(SLOTS)).toEqual([{ name: "pilvi", status: "reserved" }]);
    const log = backup.log?.folder(cluster.dataDir) ?? "";
    const first = segmentsIn(log).at(0) ?? "";
    await fillLog(cluster);
    await cluster.stop();
    await cluster.run();
    await fillLog(cluster);
    expect(segmentsIn(log)).toContain(first);

    const status = await backup.log?.status(cluster.context);
    expect(status).toMatchObject({ isWhole: true });
    await backup.log?.release(cluster.context, status?.lsn ?? "");
    // An earlier position changes nothing.
    await backup.log?.release(cluster.context, "0/1000000");
    await cluster.sql("checkpoint");
    expect(segmentsIn(log)).not.toContain(first);
    await cluster.stop();

    Object.assign(cluster.context.spec, { keepsLog: false });
    await cluster.run();
    expect(await cluster.sql(SLOTS)).toEqual([]);
    await cluster.stop();
  });

  test("a log that is gone before its release is reported, and kept anew", async () => {
    const cluster = await Cluster.start(installed, ["max_slot_wal_keep_size = 8MB", "max_wal_size = 16MB"]);
    for (let round = 0; round < 3; round += 1) await fillLog(cluster);
    expect(await cluster.sql(SLOTS)).toEqual([{ name: "pilvi", status: "lost" }]);
    expect(await backup.log?.status(cluster.context)).toMatchObject({ isWhole: false });
    expect(await backup.log?.status(cluster.context)).toMatchObject({ isWhole: true });
    await cluster.stop();
  });

  // Without root there are no other users.
  test.if(READER !== null)(
    "the keeper reads the log and nothing else, also of data from before",
    async () => {
      const cluster = await Cluster.start(installed, [], { keepsLog: false });
      const { dataDir } = cluster;
      const log = join(dataDir, "pg_wal");
      const [segment = ""] = segmentsIn(log);
      expect(lstatSync(dataDir).mode & 0o7777).toBe(0o700);
      expect(canRead(join(log, segment))).toBe(false);
      await cluster.stop();

      Object.assign(cluster.context.spec, { keepsLog: true });
      await cluster.run();
      await fillLog(cluster);
      const { uid = 0, gid = 0 } = READER ?? {};
      expect(lstatSync(dataDir)).toMatchObject({ gid, mode: 0o40750 });
      expect(lstatSync(log)).toMatchObject({ gid, mode: 0o42750 });
      for (const name of segmentsIn(log)) {
        expect(lstatSync(join(log, name))).toMatchObject({ gid, mode: 0o100640 });
        expect(canRead(join(log, name))).toBe(true);
      }
      await cluster.sql("create table later (id int)");
      const others = readdirSync(dataDir, { recursive: true, encoding: "utf8" }).filter(
        (name) => !name.startsWith("pg_wal"),
      );
      for (const name of others) {
        const { mode, gid: group } = lstatSync(join(dataDir, name));
        expect([name, group === gid, mode & 0o7]).toEqual([name, false, 0]);
      }
      expect(canRead(join(dataDir, "PG_VERSION"))).toBe(false);
      await cluster.stop();

      // A start that was killed between two steps has left a half of it.
      chmodSync(log, 0o700);
      const account = cluster.context.account;
      if (account !== null) chownSync(dataDir, account.uid, account.gid);
      postgres.prepare?.(cluster.context);
      expect(lstatSync(log)).toMatchObject({ gid, mode: 0o42750 });
      expect(lstatSync(dataDir)).toMatchObject({ gid });

      Object.assign(cluster.context.spec, { keepsLog: false });
      await cluster.run();
      expect(lstatSync(dataDir)).toMatchObject({ gid: account?.gid, mode: 0o40700 });
      expect(canRead(join(log, segmentsIn(log)[0] ?? ""))).toBe(false);
      await cluster.stop();
      expect(uid).not.toBe(account?.uid);
    },
  );
});
