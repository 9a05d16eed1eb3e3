// Warm slots: data directories that are built ahead of demand, so that a new cluster only has to take one.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { FirstData } from "../../engines/engine.ts";
import { engineNamed } from "../../engines/index.ts";
import type { InstalledEngine } from "../../engines/installed.ts";
import { codeOf } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import { spreadFolders } from "../../lib/spread-folders.ts";
import { BUILD_ACCOUNT, canSwitchUsers } from "../os/accounts.ts";
import { build } from "./data-directory.ts";
import type { CgroupBackend } from "../os/cgroup-backends.ts";
import { confineTo, dissolve } from "../os/cgroup.ts";

/** The engine and recipe of a slot. Slots of another engine version or recipe are useless. */
export interface SlotKind {
  installed: InstalledEngine;
  firstData: FirstData;
}

/** The ending of an incomplete slot's name. A folder with it at a start is the remains of a killed host. */
const UNFINISHED = ".building";

/** The limits of builds, so that an excessive build harms no other process. */
const BUILD_LIMITS = { memoryBytes: 1024 ** 3, maxProcesses: 128, cpus: null };

/** The time since the latest taken slot after which new slots are built. */
const REFILL_DELAY_MS = 1_000;

export class WarmPool {
  readonly #root: string;
  /** The group that limits builds. Another Pilvi on this machine has its own. */
  readonly #group: string;
  readonly #cgroups: CgroupBackend | null;
  readonly #count: number;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  #kinds: SlotKind[] = [];
  #filling: Promise<void> | null = null;
  #refill: ReturnType<typeof setTimeout> | undefined;

  /** @param count the number of slots of each kind; 0 keeps none. */
  constructor(dataDir: string, count: number, log: Log, cgroups: CgroupBackend | null = null) {
    this.#root = join(dataDir, "slots");
    this.#group = `slots-${sha256Hex(this.#root).slice(0, 12)}`;
    this.#count = count;
    this.#cgroups = cgroups;
    this.#log = log;
  }

  /** Deletes useless slots and begins to fill the pool in the background. */
  start(kinds: SlotKind[]): void {
    this.#kinds = this.#count === 0 ? [] : kinds;
    mkdirSync(this.#root, { recursive: true, mode: 0o711 });
    const wanted = new Set(this.#kinds.map(keyOf));
    for (const key of readdirSync(this.#root)) {
      const folder = join(this.#root, key);
      const useless = wanted.has(key)
        ? readdirSync(folder).filter((name) => !isReady(folder, name) || !isOwn(folder, name))
        : [""];
      for (const name of useless) this.#discard(join(folder, name));
    }
    this.#fill();
  }

  /** Deletes a path. The programs of a killed host may still write there; the next start deletes the rest. */
  #discard(path: string): void {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch (error) {
      this.#log.warn({ error }, "a useless slot could not be deleted yet");
    }
  }

  /**
   * Moves the data directory of a slot to the path, and starts to build another slot.
   * @returns false when the pool has no slot.
   */
  take(kind: SlotKind, path: string): boolean {
    const folder = join(this.#root, keyOf(kind));
    for (const name of namesIn(folder)) {
      if (!isReady(folder, name)) continue;
      try {
        renameSync(join(folder, name, "data"), path);
      } catch (error) {
        if (codeOf(error) === "ENOENT") continue;
        throw error;
      } finally {
        rmSync(join(folder, name), { recursive: true, force: true });
      }
      this.#fillLater();
      return true;
    }
    return false;
  }

  /** The number of ready slots of a kind. */
  ready(kind: SlotKind): number {
    const folder = join(this.#root, keyOf(kind));
    return namesIn(folder).filter((name) => isReady(folder, name)).length;
  }

  /** Stops the builds. */
  async stop(): Promise<void> {
    clearTimeout(this.#refill);
    this.#stopping.abort();
    await this.#filling;
    await dissolve(this.#cgroups, this.#group);
  }

  /** Refills after a delay: the latest create is still starting an engine, and more may follow. */
  #fillLater(): void {
    clearTimeout(this.#refill);
    this.#refill = setTimeout(() => this.#fill(), REFILL_DELAY_MS);
  }

  #fill(): void {
    this.#filling ??= this.#fillUp()
      .catch((error: unknown) => {
        // The next create builds for itself, and the next taken slot starts another attempt.
        if (!this.#stopping.signal.aborted) this.#log.warn({ error }, "a warm slot could not be built");
      })
      .finally(() => {
        this.#filling = null;
      });
  }

  async #fillUp(): Promise<void> {
    for (const kind of this.#kinds) {
      while (!this.#stopping.signal.aborted && this.ready(kind) < this.#count) await this.#buildOne(kind);
    }
  }

  #confine(pid: number): void {
    if (this.#cgroups !== null) confineTo(this.#cgroups, this.#group, [pid], BUILD_LIMITS);
  }

  async #buildOne(kind: SlotKind): Promise<void> {
    const folder = join(this.#root, keyOf(kind));
    const slot = join(folder, Bun.randomUUIDv7());
    const unfinished = `${slot}${UNFINISHED}`;
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o711 });
    spreadFolders(folder);
    mkdirSync(unfinished, { mode: 0o700 });
    await failpoint("slots.begun");
    try {
      const { signal } = this.#stopping;
      await build(kind.firstData, kind.installed, unfinished, {
        confine: (pid) => this.#confine(pid),
        isUrgent: false,
        signal,
      });
      await failpoint("slots.built");
      renameSync(unfinished, slot);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      throw error;
    }
  }
}

/** A slot without data was taken by a host that was killed right then. */
function isReady(folder: string, name: string): boolean {
  return !name.endsWith(UNFINISHED) && existsSync(join(folder, name, "data"));
}

/** An earlier Pilvi gave slots to `nobody`, which other programs on the machine may run as. */
function isOwn(folder: string, name: string): boolean {
  return !canSwitchUsers() || statSync(join(folder, name, "data")).uid === BUILD_ACCOUNT.uid;
}

function keyOf({ installed, firstData }: SlotKind): string {
  return `${installed.name}-${installed.version}-${sha256Hex(firstData.recipe).slice(0, 8)}`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** The kinds to keep ready: the first, and so newest, version of each engine whose first data takes long to build. */
export function slotKindsOf(engines: InstalledEngine[]): SlotKind[] {
  const kinds: SlotKind[] = [];
  for (const installed of engines) {
    const firstData = engineNamed(installed.name)?.firstData;
    const isKnown = kinds.some((kind) => kind.installed.name === installed.name);
    if (firstData !== undefined && !isKnown) kinds.push({ installed, firstData });
  }
  return kinds;
}
