// A driver's part about backups for the tests of the API, kept in memory, and a loop that works with it.
import type { ArchiveState, BackupInfo, Retention } from "../../../src/contracts/keeper.ts";
import type { Driver } from "../../../src/drivers/driver.ts";
import { PublicError } from "../../../src/lib/errors.ts";
import { createLog } from "../../../src/lib/log.ts";
import { Loop, type Reconcile } from "../../../src/reconciler/loop.ts";
import { sessionOf } from "../../../src/reconciler/test-support.ts";
import { allReconcilers, kinds, slowKinds } from "../../../src/resources/index.ts";
import { startApi, type TestApi } from "./api.ts";

const letBe: Reconcile = async () => ({ result: { settled: true } });

/** The archives of a driver, with all that it was asked to do. */
export class DriverArchives {
  readonly states = new Map<string, ArchiveState>();
  readonly retentions: Retention[] = [];
  readonly removed: string[] = [];
  /** Runs before each backup; a test may have it fail or wait. */
  beforeBackup: (signal: AbortSignal) => Promise<void> = async () => {};

  /** The functions of the driver. */
  readonly driver: Partial<Driver> = {
    observe: async (id) => ({
      id,
      state: "running",
      since: "2026-03-15T08:18:53.204Z",
      engine: null,
      limits: null,
      lastError: null,
      crashes: 0,
      sleep: null,
    }),
    backUp: async (id, backup, signal) => {
      await this.beforeBackup(signal);
      const state = this.states.get(id) ?? emptyState(id);
      const info = backupInfo(id, backup, new Date());
      this.states.set(id, {
        ...state,
        backups: [...state.backups, info],
        storedBytes: state.storedBytes + 4_096,
      });
      return info;
    },
    archives: async () => [...this.states.values()],
    archive: async (id) => this.states.get(id) ?? null,
    deleteBackup: async (id, backup) => {
      const state = this.states.get(id);
      if (state !== undefined)
        this.states.set(id, { ...state, backups: state.backups.filter((each) => each.id !== backup) });
    },
    deleteArchive: async (id) => {
      this.states.delete(id);
      this.removed.push(id);
    },
    retain: async (_id, retention) => void this.retentions.push(retention),
    planRestore: async (id, target) => {
      const { backups = [] } = this.states.get(id) ?? {};
      const found = "backup" in target ? backups.find((each) => each.id === target.backup) : backups.at(-1);
      if (found === undefined || ("at" in target && Date.parse(target.at) < Date.parse(found.completedAt)))
        throw new PublicError("Nothing from before that time is kept.");
      return { backup: found, recovery: { kind: "immediate" }, segments: [], totalBytes: 1 };
    },
  };
}

export function emptyState(id: string): ArchiveState {
  const engine = { name: "postgres", major: "18", version: "18.1" } as const;
  return { id, engine, backups: [], log: null, storedBytes: 0, lastError: null };
}

/** A complete backup of a Postgres. */
export function backupInfo(archive: string, id: string, at: Date): BackupInfo {
  const moment = at.toISOString();
  return {
    id,
    archive,
    engine: { name: "postgres", major: "18", version: "18.1" },
    format: "tar",
    isHot: true,
    dataBytes: 41_943_040,
    users: ["app"],
    databases: ["main", "reports"],
    startedAt: moment,
    completedAt: moment,
    postgres: null,
    partCount: 1,
    plainBytes: 8_192,
    storedBytes: 4_096,
  };
}

/** An API whose host keeps archives. */
export interface ArchivingApi extends TestApi {
  archives: DriverArchives;
}

/**
 * Starts an API with a loop that makes snapshots and keeps archives; stop it at the end of the test file.
 * @param driver functions of the host's driver that take the place of those of the archives.
 */
export async function startArchivingApi(driver: Partial<Driver> = {}): Promise<ArchivingApi> {
  const api = await startApi();
  const archives = new DriverArchives();
  Object.assign(api.host.driver, archives.driver, driver);
  const loop = await startBackups(api);
  const stop = async () => {
    await loop.stop();
    await api.stop();
  };
  return { ...api, archives, stop };
}

/** A loop that makes snapshots and keeps archives, and reconciles no instances. */
async function startBackups({ db, context, host }: TestApi): Promise<Loop> {
  const reconcilers = new Map([
    ...allReconcilers(context),
    ...kinds.map(({ name }) => [name, letBe] as const),
  ]);
  const loop = new Loop({
    db,
    openSession: (onClose) => sessionOf(db, onClose),
    hostIds: [host.id],
    reconcilers,
    slowKinds,
    log: createLog("test", "silent"),
  });
  await loop.start();
  return loop;
}
