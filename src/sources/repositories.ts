// The bare repositories of all applications, each in a folder named after its application.
import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isDiskLow } from "../lib/disk-floor.ts";
import { Refusal } from "../lib/errors.ts";
import { removeTrees } from "../lib/tree-removal.ts";
import { repositoryAddress } from "./address.ts";
import { findGit, type GitProgram } from "./git.ts";
import { PushRecord } from "./push-records.ts";
import { Repository } from "./repository.ts";

/** The beginning of the names of folders for sources that are not kept. */
const SCRATCH = "scratch-";

/** The ending of the names of repositories. */
const ENDING = ".git";

interface RepositoriesOptions {
  /** Servers on the machine of Pilvi itself from which commits may be fetched, as `host:port`. */
  localServers?: readonly string[];
  /** Whether commits may be fetched from any server of that machine. */
  mayReachItself?: boolean;
}

export class Repositories {
  readonly #localServers: ReadonlySet<string>;
  readonly #mayReachItself: boolean;
  readonly #folder: string;
  /** Opened repositories by the id of their application: uploads to one of them wait for each other. */
  readonly #opened = new Map<string, Promise<Repository>>();
  #git: GitProgram | null = null;
  #cleared: Promise<void> | null = null;

  /** @param folder a folder of this process, which exists. */
  constructor(folder: string, { localServers = [], mayReachItself = false }: RepositoriesOptions = {}) {
    this.#folder = folder;
    this.#localServers = new Set(localServers);
    this.#mayReachItself = mayReachItself;
  }

  /**
   * Whether the address may lead to the machine of Pilvi itself.
   * @throws SourceRefusal when it is no address of a repository.
   */
  mayBeLocal(url: string): boolean {
    const { host, port } = repositoryAddress(url);
    return this.#mayReachItself || this.#localServers.has(`${host}:${port}`);
  }

  /**
   * The repository of an application, made at its first use.
   * @throws Refusal when the machine has no git, with the command that installs it.
   */
  of(applicationId: string): Promise<Repository> {
    const known = this.#opened.get(applicationId);
    if (known !== undefined) return known;
    const opened = Repository.open(this.#pathOf(applicationId), { git: this.#program() });
    this.#opened.set(applicationId, opened);
    opened.catch(() => this.#opened.delete(applicationId));
    return opened;
  }

  /** The ids of the applications to which pushes go on, or were cut off before they were reported. */
  async pushed(): Promise<string[]> {
    const folders = (await readdir(this.#folder)).filter((name) => name.endsWith(ENDING));
    const found = await Promise.all(
      folders.map(async (name) =>
        (await PushRecord.names(join(this.#folder, name))).length > 0 ? [name] : [],
      ),
    );
    return found.flat().map((name) => name.slice(0, -ENDING.length));
  }

  /**
   * Deletes the repository of an application, which may be absent. Uploads that run end first, and those that wait are
   * refused.
   */
  async remove(applicationId: string): Promise<void> {
    const repository = await this.#opened.get(applicationId);
    if (repository === undefined) await removeTrees([this.#pathOf(applicationId)]);
    else await repository.remove();
    this.#opened.delete(applicationId);
  }

  /** @throws Refusal when the disk is nearly full, before an upload, a push or a fetch takes more of it. */
  async refuseFullDisk(): Promise<void> {
    if (!(await isDiskLow(this.#folder))) return;
    throw new Refusal(
      "The disk of the machine is nearly full, so no sources are taken. Try again when there is room.",
    );
  }

  /** Gives a task an empty repository, which is deleted after it. */
  async withScratch<T>(task: (repository: Repository) => Promise<T>): Promise<T> {
    await (this.#cleared ??= this.#clearScratch());
    const folder = await mkdtemp(join(this.#folder, SCRATCH));
    try {
      return await task(await Repository.open(join(folder, "source.git"), { git: this.#program() }));
    } finally {
      await removeTrees([folder]);
    }
  }

  /** A process that was killed leaves the sources of its tasks. */
  async #clearScratch(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.startsWith(SCRATCH));
    await removeTrees(names.map((name) => join(this.#folder, name)));
  }

  #pathOf(applicationId: string): string {
    return join(this.#folder, `${applicationId}${ENDING}`);
  }

  #program(): GitProgram {
    this.#git ??= findGit();
    return this.#git;
  }
}
