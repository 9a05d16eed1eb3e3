// A history of a Postgres whose commits are known in the order of its log, while a keeper ships that log; and restores to
// instants of it, each as a keeper and a host make it that have nothing but the archive.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BackupInfo } from "../../../src/contracts/keeper.ts";
import type { InstalledEngine } from "../../../src/engines/installed-engine.ts";
import { backup } from "../../../src/engines/postgres/backup/index.ts";
import { microsecondsOf } from "../../../src/keeper/log/instant.ts";
import { LogArchive } from "../../../src/keeper/log/log-archive.ts";
import { MemoryStore } from "../../../src/keeper/log/test-support.ts";
import { TrackedLog } from "../../../src/keeper/log/tracked-log.ts";
import { backUpHot, Cluster, type StoredBackup } from "./postgres-cluster.ts";
import { Restore } from "./postgres-restore.ts";

const PREFIX = "archives/a/log/";
const KEYS = 20;
const PASS_MS = 200;
/** So many commits lie between two events of a history: a sleep, a crash, the end. */
const COMMITS_A_PHASE = 120;
const MICROSECONDS = 1_000_000;
const TIME = `'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'`;

interface Commit {
  xid: string;
  /** In microseconds since 1970. */
  at: number;
}

/** An instant to restore, and why it was chosen. */
export interface Instant {
  kind: string;
  /** In microseconds since 1970. */
  at: number;
}

export class PitrHistory {
  readonly #installed: InstalledEngine;
  readonly #cluster: Cluster;
  readonly #store = new MemoryStore();
  readonly #log = new TrackedLog(new LogArchive(this.#store, PREFIX));
  readonly #random: () => number;
  #base: StoredBackup | null = null;
  #commits: Commit[] = [];
  /** Instants at which the server did not run. */
  readonly #asleep: number[] = [];
  /** Of the archive alone. */
  #archived: TrackedLog | null = null;

  private constructor(installed: InstalledEngine, cluster: Cluster, random: () => number) {
    this.#installed = installed;
    this.#cluster = cluster;
    this.#random = random;
  }

  /** Writes, sleeps and crashes; afterwards the server is gone. */
  static async make(installed: InstalledEngine, random: () => number): Promise<PitrHistory> {
    const cluster = await Cluster.start(installed, ["track_commit_timestamp = on"]);
    const history = new PitrHistory(installed, cluster, random);
    await history.#play();
    return history;
  }

  get commits(): number {
    return this.#commits.length;
  }

  /** Instants of all kinds: half of them are any, the others those at which an error by one commit would show. */
  instants(count: number): Instant[] {
    const earliest = microsecondsOf(this.#facts.completedAt);
    const latest = microsecondsOf(this.#watermarkAt);
    const any = () => earliest + Math.floor(this.#random() * (latest - earliest));
    const within = this.#commits.filter(({ at }) => at > earliest);
    const commit = () => within[Math.floor(this.#random() * within.length)]?.at ?? latest;
    const chosen: (() => Instant)[] = [
      () => ({ kind: "exactly a commit", at: commit() }),
      () => ({ kind: "a microsecond before a commit", at: commit() - 1 }),
      () => ({
        kind: "asleep",
        at: this.#asleep[Math.floor(this.#random() * this.#asleep.length)] ?? latest,
      }),
      () => ({ kind: "after the last commit", at: latest }),
      () => ({ kind: "the end of the backup", at: earliest }),
    ];
    return Array.from({ length: count }, (_, index) => {
      const choose = index % 2 === 0 ? chosen[(index / 2) % chosen.length] : undefined;
      return choose?.() ?? { kind: "any", at: any() };
    });
  }

  /** The transactions that a restore to an instant must have, sorted. */
  expectedAt(at: number): string[] {
    const cut = this.#commits.findIndex((commit) => commit.at > at);
    return (cut === -1 ? this.#commits : this.#commits.slice(0, cut)).map(({ xid }) => xid).sort();
  }

  /** Restores an instant. @returns its transactions, sorted, and how many changes they made. */
  async restoredAt(at: number): Promise<{ xids: string[]; changes: number }> {
    const info: BackupInfo = {
      ...this.#facts,
      id: "b",
      archive: "a",
      partCount: 1,
      plainBytes: 0,
      storedBytes: 0,
    };
    const archived = (this.#archived ??= new TrackedLog(new LogArchive(this.#store, PREFIX)));
    const plan = await archived.plan([info], { at: textOf(at) });
    const restore = await Restore.unpack(this.#installed, this.#stored);
    const folder = backup.log?.folder(restore.dataDir) ?? "";
    for (const { name } of plan.segments)
      writeFileSync(join(folder, name), await archived.read(name, [info]), { mode: 0o600 });
    await restore.recover(plan.recovery);
    const copy = await restore.start();
    try {
      const rows = await copy.sql<{ xid: string }>("select xid::text from log");
      const [kv] = await copy.sql<{ sum: number }>("select sum(v)::int as sum from kv");
      return { xids: rows.map(({ xid }) => xid).sort(), changes: kv?.sum ?? -1 };
    } finally {
      await copy.kill();
      rmSync(restore.folder, { recursive: true, force: true });
    }
  }

  async #play(): Promise<void> {
    await this.#cluster.sql("create table log (xid xid8 default pg_current_xact_id(), pad text)");
    await this.#cluster.sql("create table kv (k int primary key, v bigint)");
    await this.#cluster.sql(`insert into kv select g, 0 from generate_series(1, ${KEYS}) g`);
    await this.#cluster.sql("grant all on log, kv to app");
    this.#announce(true);
    await this.#log.flush();
    const [from] = await this.#cluster.sql<{ at: string }>("select pg_current_wal_flush_lsn()::text as at");
    this.#base = await backUpHot(this.#cluster, () => this.#write(COMMITS_A_PHASE / 3));
    await this.#write();
    await this.#pause(() => this.#cluster.stop());
    await this.#write();
    await this.#pause(() => this.#cluster.kill());
    await this.#write();
    await this.#log.flush();
    // The pass that ships the last commit has begun before it; the next one says that it is there.
    await this.#log.flush();
    this.#commits = await this.#readCommits(from?.at ?? "0/0");
    await this.#cluster.kill();
    await this.#log.close();
  }

  /** Ends the server for a moment, of which the archive gets the rest of the log. */
  async #pause(end: () => Promise<void>): Promise<void> {
    await end();
    this.#announce(false);
    await this.#log.turn();
    this.#asleep.push(Date.now() * 1_000);
    await this.#cluster.run();
    this.#announce(true);
  }

  #announce(isAwake: boolean): void {
    const { dataDir } = this.#cluster;
    const segmentBytes = backup.log?.segmentBytes(dataDir) ?? 0;
    this.#log.announce({ folder: join(dataDir, "pg_wal"), isAwake, segmentBytes });
  }

  /** Version 14 cannot read its log, so the order of its commits is that of the only writer. */
  async #write(commits = COMMITS_A_PHASE): Promise<void> {
    const writers = this.#hasInspection ? 3 : 1;
    const rest = { commits };
    const writer = async () => {
      const db = this.#cluster.client();
      for (; rest.commits > 0; rest.commits -= 1) {
        const key = 1 + Math.floor(this.#random() * KEYS);
        await db.unsafe(
          `with w as (update kv set v = v + 1 where k = ${key}) insert into log(pad) values (repeat('x', 300))`,
        );
        await Bun.sleep(2 + this.#random() * 10);
      }
      await db.close();
    };
    const keeper = async () => {
      for (; rest.commits > 0; await Bun.sleep(PASS_MS)) await this.#log.turn();
    };
    await Promise.all([keeper(), ...Array.from({ length: writers }, writer)]);
  }

  get #hasInspection(): boolean {
    return Number.parseInt(this.#installed.version, 10) >= 15;
  }

  /** All commits with a row in the table, in the order of the log. */
  async #readCommits(from: string): Promise<Commit[]> {
    if (this.#hasInspection) await this.#cluster.sql("create extension if not exists pg_walinspect");
    const rows = await this.#cluster.sql<{ xid: string; at: string }>(
      this.#hasInspection
        ? `select w.xid::text, to_char(substring(w.description from '^[^;]+')::timestamptz at time zone 'utc', ${TIME}) as at
           from pg_get_wal_records_info('${from}', pg_current_wal_flush_lsn()) w join log on log.xid::text = w.xid::text
           where w.resource_manager = 'Transaction' and w.record_type like 'COMMIT%' order by w.start_lsn`
        : `select xid::text, to_char(pg_xact_commit_timestamp(xid::xid) at time zone 'utc', ${TIME}) as at
           from log order by log.xid`,
    );
    return rows.map(({ xid, at }) => ({ xid, at: microsecondsOf(at) }));
  }

  get #stored(): StoredBackup {
    if (this.#base === null) throw new Error("the history has no backup");
    return this.#base;
  }

  get #facts() {
    return this.#stored.facts;
  }

  get #watermarkAt(): string {
    return this.#log.archive.watermark?.at ?? "";
  }
}

function textOf(microseconds: number): string {
  const second = new Date(Math.floor(microseconds / 1_000)).toISOString().slice(0, 19);
  return `${second}.${String(microseconds % MICROSECONDS).padStart(6, "0")}Z`;
}

/** Random numbers from 0 to 1 that a seed repeats. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
