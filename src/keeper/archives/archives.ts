// All archives of the keeper: what they have, and what requests change in them.
import type {
  Announcement,
  ArchiveState,
  ArchiveWatchLine,
  BackupFacts,
  BackupInfo,
  LogState,
  RestorePlan,
  RestoreTarget,
  Retained,
  Retention,
  StoredStream,
} from "../../contracts/keeper.ts";
import { messageOf, PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/line-log.ts";
import type { BackupStore } from "../backups/backup-store.ts";
import { encodeJson } from "../backups/stream-object.ts";
import { byCompletion, PlanRefused } from "../log/plan.ts";
import type { LogShipper } from "../log/shipper.ts";
import { archiveObject, archivePrefix, backupObject, deletionObject } from "../names.ts";
import { DamagedObject, MissingObject } from "../object-store.ts";
import { ClientGone } from "../request-stream.ts";
import type { KeptTarget } from "../targets/kept-target.ts";
import type { TargetSet } from "../targets/target-set.ts";
import { emptyArchive, takeOver, type Archive } from "./archive.ts";
import { deleteMarked } from "./deletion.ts";
import { encodeEngine, sumOf, type Contents } from "./loading.ts";

/** How often the progress of a log is sent, when nothing else of the archive changes. */
const PROGRESS_MS = 10_000;

type Listener = (line: ArchiveWatchLine) => void;

export class Archives {
  readonly #store: TargetSet;
  readonly #backups: BackupStore;
  readonly #logs: LogShipper;
  readonly #log: Log;
  /** What was sent last of the log of each archive. */
  readonly #sent = new Map<string, { text: string; at: number }>();
  readonly #listeners = new Set<Listener>();
  readonly #archives = new Map<string, Archive>();
  #deletions = 0;

  constructor(store: TargetSet, backups: BackupStore, logs: LogShipper, log: Log) {
    this.#store = store;
    this.#backups = backups;
    this.#logs = logs;
    this.#log = log;
  }

  /** How many deletions there were; a listing from before the latest may show what is gone. */
  get deletions(): number {
    return this.#deletions;
  }

  /** Why there may be backups that the keeper does not know; null when it has read all targets since its start. */
  get #unread(): string | null {
    const kept = this.#store.targets.find(({ isRead }) => !isRead);
    return kept === undefined ? null : `The backup target ${kept.target.name} has not been read yet.`;
  }

  /** Takes over what targets have; what is known stays as it is. */
  take({ archives }: Pick<Contents, "archives">, targets: KeptTarget[]): void {
    for (const [id, archive] of archives) {
      const known = this.#archives.get(id);
      if (known === undefined) this.#archives.set(id, archive);
      else takeOver(known, archive);
    }
    if (this.#unread === null) return;
    for (const kept of targets) kept.isRead = true;
    for (const archive of this.states()) this.#send({ type: "archive", archive });
  }

  ids(): string[] {
    return [...this.#archives.keys()];
  }

  has(id: string): boolean {
    return this.#archives.has(id);
  }

  /** Null for an archive that does not exist. */
  state(id: string): ArchiveState | null {
    const archive = this.#archives.get(id);
    return archive === undefined ? null : this.#stateOf(archive);
  }

  states(): ArchiveState[] {
    return [...this.#archives.values()].map((archive) => this.#stateOf(archive));
  }

  /** @returns a function that ends it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** An instance exists: its archive begins, or goes on, and its log is shipped if it has one. */
  async announce(id: string, { engine, log }: Announcement): Promise<ArchiveState> {
    return await this.#change(id, async (archive) => {
      if (JSON.stringify(archive.engine) !== JSON.stringify(engine)) {
        await this.#store.put(archiveObject(id), encodeEngine(engine));
        archive.engine = engine;
      }
      this.#logs.logOf(id).announce(log);
      return this.#stateOf(archive);
    });
  }

  /** A pass over the log of an archive has ended. */
  logChanged(id: string): void {
    const state = this.state(id);
    if (state === null) return;
    const { log, lastError } = state;
    const text = JSON.stringify([
      log?.timeline,
      log?.watermark.segment,
      log?.gaps,
      log?.earliestRestoreTime,
      lastError,
    ]);
    const sent = this.#sent.get(id);
    if (sent?.text === text && Date.now() - sent.at < PROGRESS_MS) return;
    this.#sent.set(id, { text, at: Date.now() });
    this.#send({ type: "archive", archive: state });
  }

  /** Ships the log up to now. @throws PublicError. */
  async flush(id: string): Promise<LogState> {
    await this.#logs.logOf(id).flush();
    const state = this.state(id);
    if (state === null || state.log === null) throw new PublicError("There is no log of this instance.");
    // The last state of a log that ends has no later state that would be sent.
    this.#send({ type: "archive", archive: state });
    return state.log;
  }

  /** @throws PlanRefused. */
  async plan(id: string, target: RestoreTarget): Promise<RestorePlan> {
    const archive = this.#archives.get(id);
    if (archive === undefined) throw new PlanRefused("unknown_backup", "There is no backup to restore.");
    if ("backup" in target && archive.damaged.has(target.backup))
      throw new PlanRefused("damaged", `The backup ${target.backup} is damaged.`);
    try {
      return await this.#logs.logOf(id).plan([...archive.backups.values()], target);
    } catch (error) {
      if (!(error instanceof DamagedObject || error instanceof MissingObject)) throw error;
      throw new PlanRefused("damaged", `The archive cannot be read: ${error.message}.`);
    }
  }

  /** A segment of the log in full length, or a timeline history. @throws MissingObject, DamagedObject. */
  async segment(id: string, name: string): Promise<Uint8Array> {
    return await this.#logs.logOf(id).read(name, [...(this.#archives.get(id)?.backups.values() ?? [])]);
  }

  /** Deletes what need not be kept, and no planned restore reads: nothing before all targets were read. */
  async retain(id: string, retention: Retention): Promise<Retained> {
    return await this.#change(id, async (archive) => {
      if (retention.endsLog === true) await this.#endLog(archive);
      if (this.#unread !== null) return { deletedBackups: [], deletedSegments: 0 };
      const log = this.#logs.logOf(id);
      const deletable = await log.releasable([...archive.backups.values()], retention);
      for (const backup of deletable.backups) await this.#deleteBackup(archive, backup);
      const deletedSegments = await log.deleteSegments(deletable.segments);
      if (deletable.backups.length + deletedSegments > 0) await this.#measure(archive);
      return { deletedBackups: deletable.backups, deletedSegments };
    });
  }

  /** @throws PublicError while a target may have log of which nothing is known, and which would come back with it. */
  async #endLog(archive: Archive): Promise<void> {
    if (this.#unread !== null) throw new PublicError(this.#unread);
    await this.#logs.logOf(archive.id).beginAnew();
    await this.#measure(archive);
  }

  async store(id: string, backup: string, stream: AsyncIterable<Uint8Array>): Promise<StoredStream> {
    return await this.#change(id, () => this.#backups.write(id, backup, stream));
  }

  async complete(id: string, backup: string, facts: BackupFacts): Promise<BackupInfo> {
    return await this.#change(id, async (archive) => {
      const info = await this.#backups.complete(id, backup, facts);
      archive.backups.set(backup, info);
      archive.engine ??= info.engine;
      this.#logs.logOf(id).passAgain();
      await this.#measure(archive);
      return info;
    });
  }

  async read(id: string, backup: string): Promise<AsyncGenerator<Uint8Array>> {
    return await this.#backups.read(id, backup);
  }

  async deleteBackup(id: string, backup: string): Promise<void> {
    await this.#change(id, async (archive) => {
      await this.#deleteBackup(archive, backup);
      await this.#measure(archive);
    });
  }

  async #deleteBackup(archive: Archive, backup: string): Promise<void> {
    this.#deletions += 1;
    await this.#backups.delete(archive.id, backup);
    archive.backups.delete(backup);
    archive.damaged.delete(backup);
  }

  /** Deletes an archive with all backups. A deletion that is cut short is finished by a later review. */
  async delete(id: string): Promise<void> {
    this.#deletions += 1;
    await this.#logs.forget(id);
    await this.#store.put(deletionObject(id), encodeJson({}));
    this.#archives.delete(id);
    this.#sent.delete(id);
    this.#send({ type: "removed", id });
    await failpoint("keeper.archive.delete");
    await this.finishDeletion(id);
  }

  /** Deletes all objects of an archive that was marked. The mark stays while a target is away, which may have more. */
  async finishDeletion(id: string): Promise<void> {
    await deleteMarked(this.#store, id);
  }

  /** Whether a backup is being made. */
  isActive(id: string, backup: string): boolean {
    return this.#backups.isActive(id, backup);
  }

  /**
   * Deletes what is left of a backup that does not exist, unless it is being made. While a target is away nothing is
   * deleted: that target may have the whole backup, of which the others have a part.
   * @returns whether it was deleted.
   */
  async deleteLeftover(id: string, backup: string): Promise<boolean> {
    if ((this.#store.lastError ?? this.#unread) !== null) return false;
    if (this.#archives.get(id)?.backups.has(backup) === true) return false;
    const isDeleted = await this.#backups.deleteLeftover(id, backup);
    if (isDeleted)
      this.#log.info({ object: backupObject(id, backup) }, "what was left of a backup was deleted");
    return isDeleted;
  }

  /** Runs a request; its failure is shown with the archive, and its end to all who watch. */
  async #change<T>(id: string, request: (archive: Archive) => Promise<T>): Promise<T> {
    const archive = this.#archives.get(id) ?? emptyArchive(id);
    this.#archives.set(id, archive);
    try {
      const result = await request(archive);
      archive.lastError = null;
      return result;
    } catch (error) {
      if (error instanceof ClientGone) {
        this.#log.info({ archive: id }, "a stream was broken off by the host");
        throw error;
      }
      archive.lastError = messageOf(error);
      this.#log.error({ error, archive: id }, "a request about an archive failed");
      throw error;
    } finally {
      if (this.#archives.get(id) === archive)
        this.#send({ type: "archive", archive: this.#stateOf(archive) });
    }
  }

  async #measure(archive: Archive): Promise<void> {
    archive.storedBytes = sumOf(await this.#store.list(archivePrefix(archive.id)));
  }

  #stateOf({ id, engine, backups, storedBytes, damage, lastError }: Archive): ArchiveState {
    const log = this.#logs.logOf(id);
    return {
      id,
      engine,
      backups: byCompletion([...backups.values()]),
      log: log.state([...backups.values()]),
      storedBytes,
      lastError: lastError ?? log.lastError ?? damage ?? this.#store.lastError ?? this.#unread,
    };
  }

  #send(line: ArchiveWatchLine): void {
    for (const listener of this.#listeners) listener(line);
  }
}
