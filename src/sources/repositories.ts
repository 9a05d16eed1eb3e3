// The bare repositories of all applications, each in a folder named after its application.
import { join } from "node:path";
import { findGit, type GitProgram } from "./git.ts";
import { Repository } from "./repository.ts";

export class Repositories {
  readonly #folder: string;
  /** Opened repositories by the id of their application: uploads to one of them wait for each other. */
  readonly #opened = new Map<string, Promise<Repository>>();
  #git: GitProgram | null = null;

  /** @param folder a folder of this process, which exists. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The repository of an application, made at its first use.
   * @throws Refusal when the machine has no git, with the command that installs it.
   */
  of(applicationId: string): Promise<Repository> {
    const known = this.#opened.get(applicationId);
    if (known !== undefined) return known;
    this.#git ??= findGit();
    const opened = Repository.open(join(this.#folder, `${applicationId}.git`), { git: this.#git });
    this.#opened.set(applicationId, opened);
    opened.catch(() => this.#opened.delete(applicationId));
    return opened;
  }

  /** Deletes the repository of an application, which may be absent. */
  async remove(applicationId: string): Promise<void> {
    const repository = await this.of(applicationId);
    this.#opened.delete(applicationId);
    await repository.remove();
  }
}
