// A history of a MariaDB whose commits are known from its binary log, while a real host and a real keeper ship that log;
// and restores to seconds of it.
import { join } from "node:path";
import { sleepySpec, customerDatabase } from "../../../src/host/test-support.ts";
import { BackupStage } from "../../../src/host/backups/test-support.ts";
import type { InstanceSpec } from "../../../src/contracts/instance-spec.ts";
import { newId } from "../../../src/lib/ids.ts";
import { until } from "../pilvi/pilvi.ts";
import { freePort } from "../pilvi/ports.ts";
import { killIfThere } from "../pilvi/processes.ts";
import { readBinlog, type LoggedCommit } from "./binlog-reader.ts";

const TABLE = "written";
const KEYS = 20;
const WRITERS = 3;
const LONGEST_PAUSE_MS = 60;
/** One transaction of so many stays open over a second or more. */
const LONG_EVERY = 40;
const LONG_MS = 1_500;
const PATIENCE_MS = 120_000;
/** No file of the source's log is deleted, for it is the truth. */
const NEVER_MS = 3_600_000;
const WRITING_PHASES = 7;

/** The content of a restored instance. */
export interface RestoredState {
  numbers: number[];
  /** How many changes the transactions made beside their numbers. */
  changes: number;
}

export class BinlogHistory {
  readonly #stage = new BackupStage();
  readonly #spec = sleepySpec("mysql", { keepsLog: true });
  readonly #random: () => number;
  readonly #phaseSeconds: number;
  readonly #acknowledged: number[] = [];
  readonly #asleep: number[] = [];
  #next = 0;
  #commits: LoggedCommit[] = [];
  #earliest = 0;
  #latest = 0;

  private constructor(seconds: number, random: () => number) {
    this.#random = random;
    this.#phaseSeconds = Math.ceil(seconds / WRITING_PHASES);
  }

  /**
   * Writes over sleeps, a crash, a new host and a new keeper.
   * @param seconds for so long at least it writes.
   */
  static async make(seconds: number, random: () => number): Promise<BinlogHistory> {
    const history = new BinlogHistory(seconds, random);
    try {
      await history.#begin();
      await history.#play();
      history.#readCommits();
    } catch (error) {
      await history.close();
      throw error;
    }
    return history;
  }

  get commits(): number {
    return this.#commits.length;
  }

  async close(): Promise<void> {
    await this.#stage.close();
  }

  /** Seconds since 1970: the first and the last that can be restored, a second asleep, and any others. */
  seconds(count: number): number[] {
    const span = this.#latest - this.#earliest + 1;
    const any = () => this.#earliest + Math.floor(this.#random() * span);
    const chosen = [this.#earliest, this.#latest, ...this.#asleep].slice(0, count);
    return [...chosen, ...Array.from({ length: count - chosen.length }, any)];
  }

  /** The GTIDs up to a second, in the order of the log: none of the first file or commit of that second or of a later one. */
  expectedAt(second: number): number[] {
    const cut = this.#commits.findIndex(({ at, fileAt }) => Math.max(at, fileAt) >= second);
    const before = cut === -1 ? this.#commits : this.#commits.slice(0, cut);
    return before.filter(({ numbers }) => numbers.length > 0).map(({ sequence }) => sequence);
  }

  /** The GTIDs of the transactions that restored numbers come from, in the order of the log. @throws on any other number. */
  gtidsOf({ numbers }: RestoredState): number[] {
    const byNumber = new Map(
      this.#commits.flatMap((commit) => commit.numbers.map((number) => [number, commit.sequence] as const)),
    );
    const gtids = numbers.map((number) => {
      const sequence = byNumber.get(number);
      if (sequence === undefined) throw new Error(`nobody committed ${number}`);
      return sequence;
    });
    return gtids.sort((a, b) => a - b);
  }

  /** Restores a second as a new instance, which is removed again. */
  async restoredAt(second: number): Promise<RestoredState> {
    const { driver } = this.#stage;
    const exposure = { ...this.#spec.exposure, port: freePort() };
    const origin = { archive: this.#spec.id, at: new Date(second * 1000).toISOString() };
    const copy = { ...this.#spec, id: newId("db"), exposure, origin, keepsLog: false } as InstanceSpec;
    const { state, lastError } = await driver.ensure(copy);
    if (state !== "running") throw new Error(`the copy of ${origin.at} is ${state}: ${lastError}`);
    const found = await this.#inDatabase(copy.id, async (db) => {
      const rows = await db.unsafe<{ n: number }[]>(`select n from ${TABLE}`);
      const [sum] = await db.unsafe<{ changes: string }[]>("select sum(v) as changes from kv");
      return { numbers: rows.map(({ n }) => Number(n)), changes: Number(sum?.changes) };
    });
    await driver.remove(copy.id);
    return found;
  }

  async #begin(): Promise<void> {
    this.#stage.hosts.settings.releaseIntervalMs = NEVER_MS;
    await this.#stage.start();
    const { state, lastError } = await this.#stage.driver.ensure(this.#spec);
    if (state !== "running") throw new Error(`MariaDB is ${state}: ${lastError}`);
    await this.#inDatabase(this.#spec.id, async (db) => {
      await db.unsafe(`create table ${TABLE} (n int primary key)`);
      await db.unsafe("create table kv (k int primary key, v int not null)");
      await db.unsafe(`insert into kv select seq, 0 from seq_0_to_${KEYS - 1}`);
      await db.unsafe(
        `create trigger counts after insert on ${TABLE} for each row update kv set v = v + 1 where k = new.n mod ${KEYS}`,
      );
    });
  }

  async #play(): Promise<void> {
    const { id } = this.#spec;
    await this.#write();
    const [backup] = await Promise.all([this.#stage.backUp(id), this.#write()]);
    this.#earliest = Date.parse(backup.mysql?.endedAt ?? "") / 1000;
    await this.#stage.startHost();
    this.#stage.gateway = await this.#stage.hosts.gateway();
    await this.#write();
    await this.#stage.killKeeper();
    await this.#write();
    await this.#stage.startKeeper();
    await this.#sleep();
    await this.#write();
    for (const pid of this.#stage.hosts.pidsOf(id)) killIfThere(pid);
    await Promise.all([this.#stage.backUp(id).catch(() => null), this.#write()]);
    await this.#stage.backUp(id);
    await this.#write();
    this.#latest = Math.floor(Date.now() / 1000) + 1;
    await until("the log is shipped", async () => (await this.#watermark()) > this.#latest, PATIENCE_MS);
  }

  /** Sleeps over a whole second. */
  async #sleep(): Promise<void> {
    await until(
      "it sleeps",
      async () => (await this.#stage.driver.suspend(this.#spec.id)).state === "asleep",
      PATIENCE_MS,
    );
    const second = Math.floor(Date.now() / 1000) + 1;
    await until("a second of sleep is over", () => Date.now() / 1000 > second + 1);
    this.#asleep.push(second);
  }

  async #watermark(): Promise<number> {
    const log = (await this.#stage.driver.archive(this.#spec.id))?.log;
    return Date.parse(log?.watermark.at ?? "1970-01-01T00:00:00Z") / 1000;
  }

  /** All writers write for the time of a phase, over sessions that are opened anew when they break. */
  async #write(): Promise<void> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    const endAt = Date.now() + this.#phaseSeconds * 1000;
    const goal = this.#acknowledged.length + WRITERS;
    const isOver = () => Date.now() > endAt && (this.#acknowledged.length >= goal || Date.now() > giveUpAt);
    const writer = async () => {
      while (!isOver())
        await this.#inDatabase(this.#spec.id, async (db) => {
          while (!isOver()) await this.#commit(db);
        }).catch(() => Bun.sleep(LONGEST_PAUSE_MS));
    };
    await Promise.all(Array.from({ length: WRITERS }, writer));
    if (this.#acknowledged.length < goal) throw new Error("MariaDB takes no writes");
  }

  async #commit(db: Bun.SQL): Promise<void> {
    const number = (this.#next += 1);
    const insert = `insert into ${TABLE} values (${number})`;
    if (number % LONG_EVERY === 0)
      await db.begin(async (tx) => {
        await tx.unsafe(insert);
        await Bun.sleep(this.#random() * LONG_MS);
      });
    else await db.unsafe(insert);
    this.#acknowledged.push(number);
    await Bun.sleep(this.#random() * LONGEST_PAUSE_MS);
  }

  /** @throws when the log lacks a GTID, or a commit that the server acknowledged to its client. */
  #readCommits(): void {
    this.#commits = readBinlog(join(this.#stage.folderOf(this.#spec.id), "data", "pilvi-log"), TABLE);
    const skipped = this.#commits.find(({ sequence }, index) => sequence !== index + 1);
    if (skipped !== undefined) throw new Error(`the log goes on with 0-1-${skipped.sequence}`);
    const logged = new Set(this.#commits.flatMap(({ numbers }) => numbers));
    const lost = this.#acknowledged.filter((number) => !logged.has(number));
    if (lost.length > 0) throw new Error(`the log lacks ${lost.join(", ")}`);
  }

  async #inDatabase<T>(id: string, use: (db: Bun.SQL) => Promise<T>): Promise<T> {
    const { driver, gateway } = this.#stage;
    const isAsleep = (await driver.observe(id)).state === "asleep";
    const db = customerDatabase("mysql", await (isAsleep ? gateway.wake(id) : gateway.until(id, "running")));
    try {
      return await use(db);
    } finally {
      await db.close();
    }
  }
}
