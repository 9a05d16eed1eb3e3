// The backups of all instances of this machine: makes them, a few at a time, and has the keeper store them.
import type {
  ArchiveState,
  BackupInfo,
  RestorePlan,
  RestoreTarget,
  Retention,
} from "../../contracts/keeper.ts";
import { RestoreFault } from "../../engines/backup.ts";
import { PublicError } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";
import type { DataOrigin } from "../provisioning/origin.ts";
import type { CgroupBackend } from "../os/cgroup-backends.ts";
import { keeperSocket } from "../os/layout.ts";
import { ArchiveLink } from "./archive-link.ts";
import { makeBackup } from "./backup-maker.ts";
import { Copies } from "./copies.ts";
import type { DataSource } from "./data-source.ts";
import { KeeperClient, PlanRefused } from "./keeper-client.ts";
import { buildFromOrigin, type OriginParts } from "./origin-builder.ts";
import { Places } from "../../lib/places.ts";
import { SharedPlaces } from "../../lib/shared-places.ts";
import { ReplicaFeeds } from "./replica-feeds.ts";
import type { DataBuild } from "./unpack.ts";
import { Verifier } from "./verifier.ts";

/** More copies at once would take the disk from all instances. */
const COPIES_AT_ONCE = 2;

const RESTORES_AT_ONCE = 2;

/** How many copies, and how many restores, the data of an instance has at once. Others find a place beside them. */
const AT_ONCE_OF_ONE = 1;

/** What the backups of a host need. */
interface HostBackupsParts {
  dataDir: string;
  cgroups: CgroupBackend | null;
  log: Log;
  releaseIntervalMs?: number;
  find(id: string): DataSource | undefined;
  sources(): Iterable<DataSource>;
}

/** A backup that is being made, for one or more callers. */
interface Making {
  callers: number;
  giveUp: AbortController;
  info: Promise<BackupInfo>;
}

export class HostBackups {
  readonly keeper: KeeperClient;
  readonly copies = new Copies();
  readonly verifier: Verifier;
  readonly #parts: HostBackupsParts;
  readonly #link: ArchiveLink;
  readonly #feeds: ReplicaFeeds;
  readonly #places = new SharedPlaces(COPIES_AT_ONCE, AT_ONCE_OF_ONE);
  readonly #restorePlaces = new SharedPlaces(RESTORES_AT_ONCE, AT_ONCE_OF_ONE);
  readonly #making = new Map<string, Making>();
  /** One copy of an instance at a time. */
  readonly #lines = new Map<string, Places>();

  constructor(parts: HostBackupsParts) {
    this.#parts = parts;
    this.keeper = new KeeperClient(keeperSocket(parts.dataDir));
    this.#link = new ArchiveLink({ ...parts, keeper: this.keeper });
    const plan: OriginParts["plan"] = (...asked) => this.plan(...asked);
    this.verifier = new Verifier({ ...parts, keeper: this.keeper, plan });
    this.#feeds = new ReplicaFeeds({ ...parts, keeper: this.keeper });
  }

  start(): void {
    this.#link.start();
    void this.verifier.start();
    this.#feeds.start();
  }

  /** Gives up all that is under way. */
  stop(): void {
    this.#link.stop();
    this.verifier.stop();
    this.#feeds.stop();
    for (const { giveUp } of this.#making.values()) giveUp.abort();
  }

  /** The state or the spec of an instance has changed. */
  changed(id: string): void {
    this.#link.changed(id);
  }

  /**
   * Ships what the ended engine of an instance wrote last, before its data is deleted. A keeper that does not answer costs
   * that log, and keeps no instance from being removed.
   */
  async shipLastLog(id: string): Promise<void> {
    try {
      await this.#link.shipLast(id);
    } catch (error) {
      this.#parts.log.warn({ error, instance: id }, "the last log of a removed instance was not stored");
    }
  }

  /** @throws PublicError when the instance has no data, cannot be copied, or the backup cannot be stored. */
  async backUp(id: string, backup: string, signal: AbortSignal): Promise<BackupInfo> {
    const key = `${id}/${backup}`;
    for (let former = this.#making.get(key); former?.giveUp.signal.aborted === true;) {
      await former.info.catch(() => undefined);
      former = this.#making.get(key);
    }
    const making = this.#making.get(key) ?? this.#make(key, id, backup);
    making.callers += 1;
    const leave = () => {
      making.callers -= 1;
      if (making.callers === 0) making.giveUp.abort();
    };
    signal.addEventListener("abort", leave);
    try {
      return await making.info;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  /**
   * Runs a copy of an instance's data after all others of it, which may take hours.
   * @throws what the copy throws, or the reason of the signal when that is aborted before the copy begins.
   */
  async inLine<T>(id: string, copy: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const line = this.#lines.get(id) ?? new Places(1);
    this.#lines.set(id, line);
    return await line.run(copy, signal);
  }

  async archives(): Promise<ArchiveState[]> {
    return await this.keeper.archives();
  }

  async archive(id: string): Promise<ArchiveState | null> {
    return await this.keeper.archive(id);
  }

  async deleteBackup(archive: string, backup: string): Promise<void> {
    const making = this.#making.get(`${archive}/${backup}`);
    making?.giveUp.abort();
    await making?.info.catch(() => undefined);
    await this.keeper.deleteBackup(archive, backup);
  }

  /** @throws PublicError while the instance exists. */
  async deleteArchive(archive: string): Promise<void> {
    if ((this.#parts.find(archive)?.manifest ?? null) !== null)
      throw new PublicError(`${archive} still exists.`);
    await this.keeper.deleteArchive(archive);
  }

  async retain(archive: string, retention: Retention): Promise<void> {
    await this.keeper.retain(archive, retention);
  }

  /** @throws PlanRefused when the target cannot be restored. */
  async plan(archive: string, target: RestoreTarget, signal?: AbortSignal): Promise<RestorePlan> {
    if ("backup" in target) return await this.#planOf(archive, target.backup, signal);
    try {
      return await this.keeper.plan(archive, target, signal);
    } catch (error) {
      if (!(error instanceof PlanRefused) || error.code !== "too_late") throw error;
      // The log of the latest seconds may not be in the archive yet.
      await this.keeper.flush(archive, signal);
      return await this.keeper.plan(archive, target, signal);
    }
  }

  /**
   * Builds the first data of an instance from its origin.
   * @throws RestoreFault when the origin cannot be restored, PublicError when it may work another time.
   */
  async restore(
    origin: DataOrigin,
    build: Omit<DataBuild, "recipe" | "cgroups" | "isThrowAway">,
  ): Promise<void> {
    const { backup: recipe } = build.engine;
    if (recipe === undefined) throw new RestoreFault(`${build.id} has no data to restore.`);
    const { cgroups, log, find } = this.#parts;
    const { keeper, copies } = this;
    const inLine: OriginParts["inLine"] = (...asked) => this.inLine(...asked);
    const plan: OriginParts["plan"] = (...asked) => this.plan(...asked);
    const places = { places: this.#places, restorePlaces: this.#restorePlaces };
    const parts = { keeper, copies, ...places, cgroups, log, find, inLine, plan };
    await buildFromOrigin(parts, origin, { ...build, recipe, cgroups, isThrowAway: false });
  }

  /** Ends the copy and the verification of an instance that is being removed. */
  async giveUp(id: string): Promise<void> {
    for (const [key, { giveUp }] of this.#making) if (key.startsWith(`${id}/`)) giveUp.abort();
    await Promise.all([this.copies.giveUp(id), this.verifier.giveUp(id)]);
    this.#lines.delete(id);
  }

  /** A backup is whole by itself, so its state needs no segment of the log. */
  async #planOf(archive: string, id: string, signal?: AbortSignal): Promise<RestorePlan> {
    const backup = (await this.keeper.archive(archive, signal))?.backups.find((each) => each.id === id);
    if (backup === undefined)
      throw new PlanRefused({ code: "unknown_backup", message: "The backup does not exist." });
    return { backup, recovery: { kind: "immediate" }, segments: [], totalBytes: backup.plainBytes };
  }

  #make(key: string, id: string, backup: string): Making {
    const giveUp = new AbortController();
    const info = this.#makeBackup(id, backup, giveUp.signal).finally(() => this.#making.delete(key));
    const making = { callers: 0, giveUp, info };
    this.#making.set(key, making);
    // A caller may be gone by the time it fails.
    info.catch(() => undefined);
    return making;
  }

  async #makeBackup(id: string, backup: string, signal: AbortSignal): Promise<BackupInfo> {
    const { cgroups, log, find } = this.#parts;
    const { keeper, copies } = this;
    const parts = { keeper, copies, places: this.#places, cgroups, log };
    const make = async () => {
      const source = find(id);
      if (source === undefined) throw new PublicError(`${id} does not exist.`);
      const info = await makeBackup(parts, source, backup, signal);
      source.notice(null);
      return info;
    };
    try {
      return await this.inLine(id, make, signal);
    } catch (error) {
      if (signal.aborted) throw new PublicError("The backup was given up.", error);
      if (error instanceof PublicError) throw error;
      throw new PublicError("The data could not be copied.", error);
    }
  }
}
