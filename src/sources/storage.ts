// What a repository takes on the disk: its size, its garbage, and what a killed git has left.
import { existsSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { gitOutput, type GitProgram } from "./git.ts";

const [MEASURE_MS, PACK_MS] = [60_000, 10 * 60_000];

/** No git of a push or of Pilvi runs so long. */
const STALE_MS = 20 * 60_000;

/** More packs and single objects than these are packed anew. */
const [MAX_PACKS, MAX_OBJECTS] = [20, 2_000];

interface RepositorySize {
  bytes: number;
  packs: number;
  /** Objects outside of packs. */
  objects: number;
}

/** The files of a bare repository. */
export class RepositoryStorage {
  readonly #path: string;
  readonly #git: GitProgram;

  constructor(path: string, git: GitProgram) {
    this.#path = path;
    this.#git = git;
  }

  async size(): Promise<RepositorySize> {
    const output = await gitOutput(this.#git, ["count-objects", "-v"], {
      repository: this.#path,
      deadlineMs: MEASURE_MS,
      what: "The repository could not be measured",
    });
    const lines = output.toString("latin1").matchAll(/^([\w-]+): (\d+)$/gm);
    const counts = new Map([...lines].map(([, name = "", count]) => [name, Number(count)]));
    const of = (name: string) => counts.get(name) ?? 0;
    const kibibytes = of("size") + of("size-pack") + of("size-garbage");
    return { bytes: kibibytes * 1024, packs: of("packs"), objects: of("count") };
  }

  /** Whether many packs and objects have come since the last time that they were packed. */
  async isUntidy(): Promise<boolean> {
    const { packs, objects } = await this.size();
    return packs > MAX_PACKS || objects > MAX_OBJECTS;
  }

  /**
   * Deletes what no ref leads to, and packs the rest. Nothing else may write meanwhile, but pushes.
   * @param lock an open file that git inherits.
   */
  async pack(lock: number): Promise<void> {
    await this.removeUnfinished();
    await this.removeStaleLock();
    await gitOutput(this.#git, ["gc", "--quiet", "--prune=1.hour.ago"], {
      repository: this.#path,
      deadlineMs: PACK_MS,
      lock,
      what: "The repository could not be packed",
    });
  }

  /** Removes what killed pushes left, which no garbage collection finds; only while no push runs. */
  async removePushed(): Promise<void> {
    const objects = join(this.#path, "objects");
    const names = await readdir(objects).catch(() => []);
    for (const name of names.filter((each) => /^(?:tmp_objdir-)?incoming-/.test(each)))
      await rm(join(objects, name), { recursive: true, force: true });
  }

  /** The locks of refs, which git holds while it writes, and the half of a file that it writes behind one. */
  async locks(): Promise<string[]> {
    const refs = await readdir(join(this.#path, "refs"), { recursive: true }).catch(() => []);
    const others = ["HEAD.lock", "packed-refs.lock", "packed-refs.new"];
    return [
      ...refs.filter((name) => name.endsWith(".lock")).map((name) => `refs/${name}`),
      ...others.filter((name) => existsSync(join(this.#path, name))),
    ];
  }

  /** Removes files of the repository, which may be absent. */
  async removeAll(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(join(this.#path, name), { force: true });
  }

  /** Removes what a killed fetch into a branch left, such as locks; only while no other one runs. */
  async removeKilledFetch(ref: string): Promise<void> {
    await this.removeUnfinished();
    await this.removeAll(["HEAD", "shallow", ref].map((name) => `${name}.lock`));
  }

  /** A git that was killed may leave the lock that each deletion of a ref takes, and that a push may have right now. */
  async removeStaleLock(): Promise<void> {
    const lock = join(this.#path, "packed-refs.lock");
    const stats = await stat(lock).catch(() => null);
    if (stats !== null && Date.now() - stats.mtimeMs > STALE_MS) await rm(lock, { force: true });
  }

  /** Removes the locks of refs that a killed git left below a folder of them; only while nothing else writes there. */
  async removeLocksBelow(folder: string): Promise<void> {
    const place = join(this.#path, folder);
    const names = await readdir(place, { recursive: true }).catch(() => []);
    for (const name of names.filter((each) => each.endsWith(".lock")))
      await rm(join(place, name), { force: true });
  }

  /** A git that was killed leaves packs under names of its own, and a report. */
  async removeUnfinished(): Promise<void> {
    const packs = join(this.#path, "objects", "pack");
    for (const [folder, pattern] of [
      [packs, /^(?:tmp_|\.tmp-)/],
      [this.#path, /^(?:fast_import_crash_\d+|shallow\.lock)$/],
    ] as const) {
      const names = await readdir(folder).catch(() => []);
      for (const name of names.filter((each) => pattern.test(each)))
        await rm(join(folder, name), { force: true });
    }
  }
}
