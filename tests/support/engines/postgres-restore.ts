// Restores of Postgres backups into plain folders.
import { closeSync, cpSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import type { BackupFacts, RestorePlan } from "../../../src/contracts/keeper.ts";
import type { Recovered, RestoreContext } from "../../../src/engines/backup.ts";
import type { InstalledEngine } from "../../../src/engines/installed-engine.ts";
import { backup } from "../../../src/engines/postgres/backup/index.ts";
import {
  ACCOUNT,
  Cluster,
  newFolder,
  own,
  segmentsIn,
  spawn,
  type Archive,
  type StoredBackup,
} from "./postgres-cluster.ts";

/** A restore into folders of its own. */
export class Restore {
  readonly folder = newFolder();
  readonly dataDir = join(this.folder, "data");
  readonly workDir = join(this.folder, "work");
  readonly abort = new AbortController();
  readonly shares: number[] = [];
  /** The pids of all programs that were started. */
  readonly pids: number[] = [];
  readonly #installed: InstalledEngine;
  readonly #facts: BackupFacts;

  private constructor(installed: InstalledEngine, facts: BackupFacts) {
    this.#installed = installed;
    this.#facts = facts;
    for (const path of [this.dataDir, this.workDir]) {
      mkdirSync(path, { mode: 0o700 });
      own(path);
    }
  }

  /** Unpacks a backup, and lays segments of an archive beside it. */
  static async unpack(
    installed: InstalledEngine,
    { file, facts }: StoredBackup,
    archive?: Archive,
  ): Promise<Restore> {
    const restore = new Restore(installed, facts);
    const input = openSync(file, "r");
    const child = spawn(backup.unpack(facts, restore.dataDir, installed), "/", input, "ignore");
    const said = await new Response(child.stderr).text();
    closeSync(input);
    if ((await child.exited) !== 0) throw new Error(said);
    const log = backup.log?.folder(restore.dataDir) ?? "";
    const first = facts.postgres?.startSegment ?? "";
    for (const name of archive === undefined ? [] : segmentsIn(archive.folder))
      if (name >= first) cpSync(join(archive?.folder ?? "", name), join(log, name));
    return restore;
  }

  context(recovery: RestorePlan["recovery"], facts = this.#facts): RestoreContext {
    const { dataDir, workDir, abort } = this;
    return {
      installed: this.#installed,
      dataDir,
      workDir,
      account: ACCOUNT,
      limits: { memoryBytes: 256 * 1024 ** 2, enforcedBy: "engine" },
      facts,
      recovery,
      start: (argv, env) => {
        const child = spawn(argv, dataDir, "ignore", "ignore", { ...this.#installed.env, ...env });
        this.pids.push(child.pid);
        const { pid, stderr, exited } = child;
        return { pid, stderr, exited, kill: (signal) => child.kill(signal) };
      },
      signal: abort.signal,
      progress: (share) => void this.shares.push(share),
    };
  }

  async recover(recovery: RestorePlan["recovery"], facts = this.#facts): Promise<Recovered> {
    return await backup.recover(this.context(recovery, facts));
  }

  /** Runs the restored data as a cluster with the usual settings. */
  async start(settings: string[] = [], spec: object = {}): Promise<Cluster> {
    const cluster = new Cluster(this.#installed, this.folder, settings, spec);
    await cluster.run();
    return cluster;
  }
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
