// Damaged backups and archives: a restore says what is wrong, and never gives an older state.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../../tests/support/pilvi/pilvi.ts";
import type { RestorePlan } from "../../../contracts/keeper.ts";
import { RestoreFault } from "../../backup.ts";
import type { InstalledEngine } from "../../installed-engine.ts";
import {
  archiveLog,
  backUpHot,
  cleanUp,
  Cluster,
  engines,
  segmentsIn,
  type Archive,
  type StoredBackup,
} from "../../../../tests/support/engines/postgres-cluster.ts";
import { isAlive, Restore } from "../../../../tests/support/engines/postgres-restore.ts";

const versions = await engines();

afterAll(cleanUp);

/** A segment between the first and the last. */
function middle(segments: string[]): string {
  return segments[Math.floor(segments.length / 2)] ?? "";
}

describe.each([versions.at(0), versions.at(-1)].filter((version) => version !== undefined))(
  "Postgres %s",
  (_, installed: InstalledEngine) => {
    let stored: StoredBackup;
    let archive: Archive;
    let early: Archive;
    let foreign: Archive;
    let target: RestorePlan["recovery"];

    beforeAll(async () => {
      const cluster = await Cluster.start(installed);
      const db = cluster.client();
      await db.unsafe("create table log (id serial, filler text default repeat('moi', 500))");
      await db.unsafe("alter table log alter filler set storage external");
      stored = await backUpHot(cluster, async () => {
        await db.unsafe("insert into log select from generate_series(1, 100)");
      });
      await db.unsafe("insert into log select from generate_series(1, 2000)");
      early = await archiveLog(cluster);
      for (let round = 0; round < 6; round += 1)
        await db.unsafe("insert into log select from generate_series(1, 2000)");
      await db.close();
      archive = await archiveLog(cluster);
      target = { kind: "time", at: new Date().toISOString(), mustReachLsn: archive.lsn };
      await cluster.stop();
      const other = await Cluster.start(installed);
      await other.sql("create table log as select id from generate_series(1, 400000) id");
      // Its data comes from the same slot, so all but its changes is the same.
      foreign = await archiveLog(other);
      await other.stop();
    }, 120_000);

    /** Restores with an archive that was changed, and returns the error. */
    async function faultWith(change: (log: string, segments: string[]) => void): Promise<unknown> {
      const restore = await Restore.unpack(installed, stored, archive);
      const log = join(restore.dataDir, "pg_wal");
      change(log, segmentsIn(log));
      return await restore.recover(target).catch((error: unknown) => error);
    }

    test("the archive as it is can be restored", async () => {
      const restore = await Restore.unpack(installed, stored, archive);
      expect((await restore.recover(target)).reachedLsn).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/);
    });

    test("a missing segment is named", async () => {
      let name = "";
      const fault = await faultWith((log, segments) => rmSync(join(log, (name = middle(segments)))));
      expect(fault).toBeInstanceOf(RestoreFault);
      expect(String(fault)).toContain(`its segment ${name} is missing`);
    });

    test("a segment that was cut short is named", async () => {
      const fault = await faultWith((log, segments) => truncateSync(join(log, middle(segments)), 1_000_000));
      expect(fault).toBeInstanceOf(RestoreFault);
      expect(String(fault)).toContain("has 1000000 bytes in place of 4194304");
    });

    test("changed bytes in the middle of a segment end the restore", async () => {
      const fault = await faultWith((log, segments) => {
        const bytes = readFileSync(join(log, middle(segments)));
        bytes.fill(0xff, 2_000_000, 2_000_016);
        writeFileSync(join(log, middle(segments)), bytes);
      });
      expect(fault).toBeInstanceOf(RestoreFault);
      expect(String(fault)).toMatch(/has a gap: it ends at [0-9A-F/]+, and must reach|cannot replay the log/);
    });

    test("two segments that were swapped are found", async () => {
      const fault = await faultWith((log, segments) => {
        const [first = "", second = ""] = segments.slice(-3).map((name) => join(log, name));
        cpSync(first, join(log, "swap"));
        cpSync(second, first);
        cpSync(join(log, "swap"), second);
      });
      expect(fault).toBeInstanceOf(RestoreFault);
      expect(String(fault)).toContain("is another segment");
    });

    test("segments of a cluster with the same system identifier end the restore", async () => {
      const shared = segmentsIn(foreign.folder).at(-1) ?? "";
      const fault = await faultWith((log, segments) =>
        cpSync(
          join(foreign.folder, shared),
          join(log, segments.includes(shared) ? shared : middle(segments)),
        ),
      );
      expect(fault).toBeInstanceOf(RestoreFault);
      expect(String(fault)).toMatch(/has a gap: it ends at|is of another cluster|is another segment/);
    });

    test("an earlier state of a segment ends the restore", async () => {
      const stale =
        segmentsIn(early.folder).findLast((name) => segmentsIn(archive.folder).includes(name)) ?? "";
      const fault = await faultWith((log) => {
        cpSync(join(early.folder, stale), join(log, stale));
      });
      expect(fault).toBeInstanceOf(RestoreFault);
      expect(String(fault)).toMatch(/has a gap: it ends at [0-9A-F/]+, and must reach|is another segment/);
    });

    test("a segment of a later timeline is found", async () => {
      const fault = await faultWith((log, segments) => {
        const bytes = readFileSync(join(log, middle(segments)));
        bytes.writeUInt32LE(7, 4);
        writeFileSync(join(log, middle(segments)), bytes);
      });
      expect(fault).toBeInstanceOf(RestoreFault);
      expect(String(fault)).toContain("is of a later timeline");
    });

    test("a backup without its label, and with that of another backup, is refused", async () => {
      const { postgres } = stored.facts;
      if (postgres === null) throw new Error("the backup has no facts of a Postgres");
      const others = postgres.label?.replace(
        /^START WAL LOCATION: .*$/m,
        "START WAL LOCATION: 0/9000028 (file 000000010000000000000024)",
      );
      for (const label of [null, "", others ?? null, (postgres.label ?? "").slice(0, 40)]) {
        const restore = await Restore.unpack(installed, stored, archive);
        const facts = { ...stored.facts, postgres: { ...postgres, label } };
        const fault = await restore.recover(target, facts).catch((error: unknown) => error);
        expect(fault).toBeInstanceOf(RestoreFault);
        expect(String(fault)).toContain("has no label");
      }
    });

    test("a backup that lacks files is refused", async () => {
      for (const name of ["global/pg_control", "pg_wal", "PG_VERSION"]) {
        const restore = await Restore.unpack(installed, stored, archive);
        rmSync(join(restore.dataDir, name), { recursive: true });
        expect(await restore.recover(target).catch((error: unknown) => error)).toBeInstanceOf(RestoreFault);
      }
    });

    test("an instant before the end of the backup is refused", async () => {
      const restore = await Restore.unpack(installed, stored, archive);
      const before: RestorePlan["recovery"] = {
        ...target,
        kind: "time",
        at: stored.facts.startedAt,
        mustReachLsn: archive.lsn,
      };
      expect(await restore.recover(before).catch((error: unknown) => error)).toBeInstanceOf(RestoreFault);
    });

    test("a restore that is aborted leaves no process", async () => {
      const restore = await Restore.unpack(installed, stored, archive);
      const reason = new Error("the instance was deleted");
      const recovering = restore.recover(target).catch((error: unknown) => error);
      await until("the replay has begun", () => restore.shares.length > 0 || restore.pids.length > 0);
      restore.abort.abort(reason);
      expect(await recovering).toBe(reason);
      expect(restore.pids.filter(isAlive)).toEqual([]);
    });

    test("a replay that was killed is no fault of the backup, and another attempt succeeds", async () => {
      const killed = await Restore.unpack(installed, stored, archive);
      const recovering = killed.recover(target).catch((error: unknown) => error);
      await until("Postgres was started", () => killed.pids.length > 0);
      process.kill(killed.pids[0] ?? 0, "SIGKILL");
      const error = await recovering;
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(RestoreFault);
      const again = await Restore.unpack(installed, stored, archive);
      await again.recover(target);
      const copy = await again.start();
      expect(await copy.sql("select count(*)::int as rows from log")).toEqual([{ rows: 14_100 }]);
      await copy.stop();
    });
  },
);
