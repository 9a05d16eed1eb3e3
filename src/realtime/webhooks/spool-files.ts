// The files of the waiting webhooks of all applications, in the folder of the server.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../lib/line-log.ts";

const PREFIX = "webhooks-";

export class SpoolFiles {
  readonly #folder: string;
  readonly #log: Pick<Log, "warn">;

  /** @param folder may have other files as well. */
  constructor(folder: string, log: Pick<Log, "warn">) {
    this.#folder = folder;
    this.#log = log;
  }

  /** The file of an application. */
  pathOf(applicationId: string): string {
    return join(this.#folder, PREFIX + applicationId);
  }

  /**
   * Deletes the files of all other applications, which may have been removed while no process ran. Never throws: a file
   * that cannot be deleted is there again the next time.
   */
  keepOnly(applicationIds: ReadonlySet<string>): void {
    try {
      for (const name of readdirSync(this.#folder)) {
        const isObsolete = name.startsWith(PREFIX) && !applicationIds.has(name.slice(PREFIX.length));
        if (isObsolete) rmSync(join(this.#folder, name), { force: true });
      }
    } catch (error) {
      this.#log.warn({ error }, "the waiting webhooks of removed applications cannot be deleted");
    }
  }
}
