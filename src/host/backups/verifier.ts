// The verified restores of a host: one at a time, each in a folder of its own, of which nothing is left afterwards.
import { chmodSync, mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { RestoreTarget } from "../../contracts/keeper.ts";
import type { VerifiedRestore } from "../../contracts/verification.ts";
import { PublicError } from "../../lib/errors.ts";
import { Mutex } from "../../lib/mutex.ts";
import { spreadFolders } from "../../lib/spread-folders.ts";
import { dissolve } from "../os/cgroup.ts";
import { verificationsDir } from "../os/layout.ts";
import type { DataSource } from "./data-source.ts";
import { Places } from "../../lib/places.ts";
import { verifyRestore, type VerifyingParts } from "./verified-restore.ts";

/** A killed program may write into a folder for a moment, so the folder is removed again and again. */
const REMOVALS = 20;
const REMOVE_AGAIN_AFTER_MS = 250;

/** What the verified restores of a host need. */
interface VerifierParts extends VerifyingParts {
  dataDir: string;
  find(id: string): DataSource | undefined;
}

/** A verification that is under way or waits. */
interface Run {
  archive: string;
  giveUp: AbortController;
  ended: Promise<unknown>;
}

export class Verifier {
  readonly #parts: VerifierParts;
  readonly #place = new Places(1);
  readonly #clearing = new Mutex();
  readonly #runs = new Set<Run>();

  constructor(parts: VerifierParts) {
    this.#parts = parts;
  }

  /** Deletes what an earlier host has left. */
  async start(): Promise<void> {
    await this.#clearing
      .run(() => this.#clear())
      .catch((error: unknown) =>
        this.#parts.log.warn({ error }, "what a verification left could not be deleted"),
      );
  }

  /** Gives up all. */
  stop(): void {
    for (const { giveUp } of this.#runs) giveUp.abort();
  }

  /** Gives up the verifications of an instance; resolves when nothing of them is left. */
  async giveUp(archive: string): Promise<void> {
    const runs = [...this.#runs].filter((run) => run.archive === archive);
    for (const { giveUp } of runs) giveUp.abort();
    await Promise.all(runs.map(({ ended }) => ended));
  }

  /**
   * Restores a target of an instance's archive to a throw-away copy, and checks that.
   * @throws PublicError when that is not possible now, or was given up.
   */
  async verify(archive: string, target: RestoreTarget, signal: AbortSignal): Promise<VerifiedRestore> {
    const giveUp = new AbortController();
    const result = this.#verified(archive, target, AbortSignal.any([signal, giveUp.signal]));
    const run = { archive, giveUp, ended: result.catch(() => undefined) };
    this.#runs.add(run);
    try {
      return await result;
    } catch (error) {
      if (signal.aborted || giveUp.signal.aborted)
        throw new PublicError("The verification was given up.", error);
      throw error;
    } finally {
      this.#runs.delete(run);
    }
  }

  async #verified(archive: string, target: RestoreTarget, signal: AbortSignal): Promise<VerifiedRestore> {
    const leave = await this.#place.enter(signal);
    // The instance's own programs have a group of the instance's name.
    const group = `verify-${archive}`;
    try {
      const source = this.#parts.find(archive);
      if (source === undefined) throw new PublicError(`${archive} does not exist.`);
      // A fresh name each time: a program of a killed host may still write to its own folder.
      const folder = join(await this.#emptyDir(), `${archive}.${Bun.randomUUIDv7()}`);
      mkdirSync(folder, { mode: 0o700 });
      return await verifyRestore(this.#parts, source, { target, folder, group, signal });
    } finally {
      await this.start();
      await dissolve(this.#parts.cgroups, group);
      leave();
    }
  }

  /** The folder of all copies, without any. */
  async #emptyDir(): Promise<string> {
    await this.#clearing.run(() => this.#clear());
    const path = verificationsDir(this.#parts.dataDir);
    mkdirSync(path, { recursive: true });
    // The users of instances pass through it to their own folders.
    chmodSync(path, 0o711);
    spreadFolders(path);
    return path;
  }

  async #clear(): Promise<void> {
    const path = verificationsDir(this.#parts.dataDir);
    for (let removal = 1; ; removal += 1) {
      try {
        return await rm(path, { recursive: true, force: true });
      } catch (error) {
        if (removal === REMOVALS) throw error;
        await Bun.sleep(REMOVE_AGAIN_AFTER_MS);
      }
    }
  }
}
