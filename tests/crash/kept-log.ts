// The crash matrix of a log: kills of the host, the keeper, the engine, the client, and of all of them while the log is shipped,
// restored, verified and deleted; each scenario comes to the same end, and the log in the archive has no gap.
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Driver } from "../../src/drivers/driver.ts";
import { verificationsDir } from "../../src/host/os/layout.ts";
import { newId } from "../../src/lib/ids.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { enginePidsAt } from "../support/pilvi/processes.ts";
import { ALL_VICTIMS, BackupProcesses, scenariosOf, type BackupVictim } from "./backup-processes.ts";
import { LOGGED, type LoggedEngine, type LoggedSpec } from "./logged-engines.ts";

/** Nobody asks for a log to be shipped. */
const NOBODY_ASKS = ALL_VICTIMS.filter((victim) => victim !== "control");
/** A driver breaks no deletion off. */
const OF_DELETIONS = ["host", "keeper", "control", "all"] as const;

/** Whole transactions of this size fill a file of the log, so that another begins. */
const FILE_BYTES = 4_500_000;
const SOME_BYTES = 100;

const NEVER = new AbortController().signal;

/** What is interrupted, at all places that the engine has there. The steps that need no log are those of `backups.ts`. */
export function logScenarios(engine: LoggedEngine) {
  const { shipping, replay } = LOGGED[engine].places;
  return {
    shipping: scenariosOf(shipping, NOBODY_ASKS),
    restore: scenariosOf(replay),
    verification: scenariosOf(replay.slice(-1)),
    retention: scenariosOf(["keeper.log.delete"]),
    deletion: scenariosOf(["keeper.archive.delete"], OF_DELETIONS),
  };
}

export class LogMatrix {
  readonly #processes = new BackupProcesses();
  readonly #engine: LoggedEngine;
  readonly #source: LoggedSpec;

  constructor(engine: LoggedEngine) {
    this.#engine = engine;
    this.#source = this.#newSpec({ keepsLog: true });
  }

  /** Starts a host and a keeper, with a cluster that keeps its log, and a backup of it. */
  async begin(): Promise<void> {
    await this.#processes.start();
    expect(await this.#driver.ensure(this.#source)).toMatchObject({ state: "running", lastError: null });
    await this.#sql(this.#source, LOGGED[this.#engine].table);
    await this.#driver.backUp(this.#source.id, newId("snapshot"), NEVER);
  }

  async end(): Promise<void> {
    this.#processes.failpoints.release();
    await this.#driver.remove(this.#source.id);
    await this.#processes.close();
  }

  /** Kills the victim while the keeper ships what was written just now. */
  async interruptShipping(place: string, victim: BackupVictim): Promise<void> {
    const isEndOfFile = place === "keeper.log.segment" || place === "keeper.log.closed";
    this.#processes.failpoints.arm(place);
    await this.#write(isEndOfFile ? FILE_BYTES : SOME_BYTES);
    if (isEndOfFile) await this.#write(SOME_BYTES);
    await this.#processes.failpoints.reached();
    await this.#processes.kill(victim, this.#folderOf(this.#source));
    await this.#write(SOME_BYTES);
    await this.#expectWholeLog();
  }

  /** All that was written can be restored. */
  async expectAllRestored(): Promise<void> {
    const copy = await this.#latestCopy();
    await this.#driver.ensure(copy);
    await this.#expectSame(copy);
    await this.#driver.remove(copy.id);
  }

  /** Kills the victim in the middle of a restore of the latest state, which comes to its end in any case. */
  async interruptRestore(place: string, victim: BackupVictim): Promise<void> {
    await this.#write(SOME_BYTES);
    const copy = await this.#latestCopy();
    const make = (signal: AbortSignal) => this.#driver.ensure(copy, signal);
    await this.#processes.interrupt([place, victim], this.#folderOf(copy), make);
    const state = async () => (await make(NEVER).catch(() => null))?.state;
    await until("it is restored", async () => (await state()) === "running");
    await this.#expectSame(copy);
    await this.#driver.remove(copy.id);
    expect(existsSync(this.#folderOf(copy))).toBe(false);
  }

  /** Kills the victim in the middle of a verification of the latest state, which finds no fault and leaves nothing. */
  async interruptVerification(place: string, victim: BackupVictim): Promise<void> {
    await this.#write(SOME_BYTES);
    const { at } = (await this.#latestCopy()).origin;
    const verify = (signal: AbortSignal) => this.#driver.verify(this.#source.id, { at }, signal);
    const copies = verificationsDir(this.#processes.dataDir);
    await this.#processes.interrupt([place, victim], copies, verify);
    const faults = async () => (await verify(NEVER).catch(() => null))?.faults;
    await until("it is verified", async () => (await faults())?.length === 0);
    expect(existsSync(copies)).toBe(false);
    await until("no program is left", () => enginePidsAt(copies).length === 0);
  }

  /** Kills the victim while backups and the log before the newest backup are deleted; the rest can be restored. */
  async interruptRetention(place: string, victim: BackupVictim): Promise<void> {
    const { id } = this.#source;
    await this.#write(FILE_BYTES);
    const backup = newId("snapshot");
    await this.#driver.backUp(id, backup, NEVER);
    // A planned restore holds what it reads, and only the keeper that planned it knows.
    await this.#processes.restart("keeper");
    const retain = () => this.#driver.retain(id, { keepFrom: new Date().toISOString(), keepBackups: [] });
    await this.#markOld(retain);
    await this.#processes.interrupt([place, victim], this.#folderOf(this.#source), retain);
    await until("all else is deleted", async () => {
      await retain().catch(() => null);
      const { backups = [] } = (await this.#driver.archive(id).catch(() => null)) ?? {};
      return backups.length === 1 && backups[0]?.id === backup;
    });
    await this.#expectWholeLog();
  }

  /** A segment is deleted by a retention that comes later than the first that names it. */
  async #markOld(retain: () => Promise<void>): Promise<void> {
    await this.#shippedAfter(Date.now());
    await retain();
    const marked = await this.#shippedAfter(Date.now());
    await until("the marks count", () => Date.now() > Date.parse(marked) + 1_000);
  }

  /** Kills the victim while the archive of a removed instance is deleted, of which nothing is left. */
  async interruptDeletion(place: string, victim: BackupVictim): Promise<void> {
    const lost = this.#newSpec({ keepsLog: true });
    expect(await this.#driver.ensure(lost)).toMatchObject({ state: "running", lastError: null });
    await until("its log is shipped", async () =>
      Boolean((await this.#driver.archive(lost.id))?.log?.watermark),
    );
    await this.#driver.remove(lost.id);
    const remove = () => this.#driver.deleteArchive(lost.id);
    await this.#processes.interrupt([place, victim], this.#folderOf(this.#source), remove);
    const folder = join(this.#processes.dataDir, "backups", "archives", lost.id);
    await until("it is deleted", async () => {
      const isAnswered = await remove().then(
        () => true,
        () => false,
      );
      return isAnswered && !existsSync(folder);
    });
    expect((await this.#driver.archives()).map((archive) => archive.id)).toEqual([this.#source.id]);
  }

  get #driver(): Driver {
    return this.#processes.driver;
  }

  #folderOf({ id }: LoggedSpec): string {
    return this.#processes.folderOf(id);
  }

  #newSpec(more: Pick<LoggedSpec, "keepsLog">): LoggedSpec {
    return { ...LOGGED[this.#engine].newSpec(), ...more };
  }

  /** The log is shipped up to now, without a gap, and a restore of now could begin. */
  async #expectWholeLog(): Promise<void> {
    const { id } = this.#source;
    const at = await this.#shippedAfter(Date.now());
    expect((await this.#driver.archive(id))?.log?.gaps).toEqual([]);
    expect((await this.#driver.planRestore(id, { at })).recovery).toMatchObject({ kind: "time" });
  }

  /** A copy of all that was written by now. */
  async #latestCopy(): Promise<LoggedSpec & { origin: { archive: string; at: string } }> {
    // A binary log has seconds, and that of the latest commit has to be over.
    const at = new Date((Math.floor(Date.now() / 1000) + 1) * 1000).toISOString();
    await this.#shippedAfter(Date.parse(at));
    return { ...this.#newSpec({}), origin: { archive: this.#source.id, at } };
  }

  async #shippedAfter(ms: number): Promise<string> {
    let at = "";
    await until("the log is shipped", async () => {
      const archive = await this.#driver.archive(this.#source.id).catch(() => null);
      at = archive?.log?.watermark.at ?? "";
      return Date.parse(at) > ms;
    });
    return at;
  }

  /** The engine may just have been killed. */
  async #write(bytes: number): Promise<void> {
    const insert = `insert into written (pad) values (repeat('x', ${bytes}))`;
    const isWritten = () =>
      this.#sql(this.#source, [insert]).then(
        () => true,
        () => false,
      );
    await until("a row is written", isWritten);
  }

  async #expectSame(copy: LoggedSpec): Promise<void> {
    const read = ["select n from written order by n"];
    expect(await this.#sql(copy, read)).toEqual(await this.#sql(this.#source, read));
  }

  /** Runs statements. @returns the rows of the last. */
  async #sql(spec: LoggedSpec, statements: string[]): Promise<unknown> {
    const db = LOGGED[this.#engine].connect(spec, this.#folderOf(spec));
    try {
      let rows: unknown;
      for (const statement of statements) rows = await db.unsafe(statement);
      return rows;
    } finally {
      await db.close({ timeout: 0 });
    }
  }
}
