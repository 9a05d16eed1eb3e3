// Warm slots: data directories that are built before anyone wants them, so that a new cluster only has to take one.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { FirstData } from "../../engines/engine.ts";
import { engineNamed } from "../../engines/index.ts";
import type { InstalledEngine } from "../../engines/installed.ts";
import { codeOf } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import { BUILD_ACCOUNT, canSwitchUsers } from "../os/accounts.ts";
import { build } from "./data-directory.ts";
import type { CgroupBackend } from "../os/cgroup-backends.ts";
import { confineTo, dissolve } from "../os/cgroup.ts";

/** What a slot is made of. Slots of another engine version or recipe are of no use. */
export interface SlotKind {
  installed: InstalledEngine;
  firstData: FirstData;
}

/** A slot that is not complete yet; whatever has this ending at a start was left by a kill. */
const UNFINISHED = ".building";

/** What builds, and hurts nobody if it takes too much. */
const BUILD_LIMITS = { memoryBytes: 1024 ** 3, maxProcesses: 128, cpus: null };

/** How long nobody must have taken a slot before new ones are built. */
const REFILL_DELAY_MS = 1_000;

export class WarmPool {
  readonly #root: string;
  /** Where what is being built is held to its limits; another Pilvi on this machine has one of its own. */
  readonly #group: string;
  readonly #cgroups: CgroupBackend | null;
  readonly #count: number;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  #kinds: SlotKind[] = [];
  #filling: Promise<void> | null = null;
  #refill: ReturnType<typeof setTimeout> | undefined;

  /** @param count how many slots of each kind are kept; 0 keeps none. */
  constructor(dataDir: string, count: number, log: Log, cgroups: CgroupBackend | null = null) {
    this.#root = join(dataDir, "slots");
    this.#group = `slots-${sha256Hex(this.#root).slice(0, 12)}`;
    this.#count = count;
    this.#cgroups = cgroups;
    this.#log = log;
  }

  /** Deletes what is of no use any more and begins to fill up in the background. */
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

  /** What a killed host had begun may still be written to for a moment; what is left then goes at the next start. */
  #discard(path: string): void {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch (error) {
      this.#log.warn({ error }, "a useless slot could not be deleted yet");
    }
  }

  /** Moves the data directory of a slot to the path, and has another slot made. @returns false when there is none. */
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

  /** How many slots of a kind are ready. */
  ready(kind: SlotKind): number {
    const folder = join(this.#root, keyOf(kind));
    return namesIn(folder).filter((name) => isReady(folder, name)).length;
  }

  /** Ends what is being built. */
  async stop(): Promise<void> {
    clearTimeout(this.#refill);
    this.#stopping.abort();
    await this.#filling;
    await dissolve(this.#cgroups, this.#group);
  }

  /** Whoever took the last one is still starting an engine with it, and others may come right after. */
  #fillLater(): void {
    clearTimeout(this.#refill);
    this.#refill = setTimeout(() => this.#fill(), REFILL_DELAY_MS);
  }

  #fill(): void {
    this.#filling ??= this.#fillUp()
      .catch((error: unknown) => {
        // A create builds for itself then, and the next one taken tries again.
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

/** One that was taken by a host that was killed then has lost its data. */
function isReady(folder: string, name: string): boolean {
  return !name.endsWith(UNFINISHED) && existsSync(join(folder, name, "data"));
}

/** An earlier Pilvi let `nobody` own them, whom others on the machine may be. */
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

/** What is kept ready of these engines: of each the first, which is the newest, if its first data takes long to make. */
export function slotKindsOf(engines: InstalledEngine[]): SlotKind[] {
  const kinds: SlotKind[] = [];
  for (const installed of engines) {
    const firstData = engineNamed(installed.name)?.firstData;
    const isKnown = kinds.some((kind) => kind.installed.name === installed.name);
    if (firstData !== undefined && !isKnown) kinds.push({ installed, firstData });
  }
  return kinds;
}
