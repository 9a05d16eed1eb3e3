// Keeps the counters of engines as they were read last, so that the next host counts on from there.
import { readFileSync, rmSync } from "node:fs";
import { readJsonAs } from "../../contracts/read.ts";
import { countedInstancesSchema, type CountedInstance } from "../../contracts/readings.ts";
import { codeOf } from "../../lib/errors.ts";
import { replaceFile } from "../../lib/files.ts";
import type { Log } from "../../lib/log.ts";

export class CounterFile {
  readonly #path: string;
  readonly #log: Pick<Log, "warn">;
  /** The counters that an earlier host has left, of instances that this host has not read yet. */
  readonly #former: Map<string, CountedInstance>;
  #text = "";

  constructor(path: string, log: Pick<Log, "warn">) {
    this.#path = path;
    this.#log = log;
    this.#former = this.#read();
  }

  /** The counters that an earlier host has read last; undefined for an instance that it has never read. */
  former(id: string): CountedInstance | undefined {
    return this.#former.get(id);
  }

  /**
   * Replaces the file. It is written before the readings that it belongs to, so that a kill in between costs a minute,
   * and counts none twice. Never throws: a full disk costs readings after a kill, and nothing else.
   * @param present the ids of all instances.
   */
  write(counted: ReadonlyMap<string, CountedInstance>, present: ReadonlySet<string>): void {
    for (const id of this.#former.keys()) if (counted.has(id) || !present.has(id)) this.#former.delete(id);
    const text = `${JSON.stringify(Object.fromEntries([...this.#former, ...counted]))}\n`;
    if (text === this.#text) return;
    try {
      replaceFile(this.#path, text, 0o600);
      this.#text = text;
    } catch (error) {
      this.#log.warn({ error }, "counters could not be kept on the disk");
      // Older counters would count again what later readings have.
      rmSync(this.#path, { force: true });
      this.#text = "";
    }
  }

  #read(): Map<string, CountedInstance> {
    try {
      const text = readFileSync(this.#path, "utf8");
      return new Map(Object.entries(readJsonAs(countedInstancesSchema, text, "The file of counters")));
    } catch (error) {
      if (codeOf(error) !== "ENOENT") this.#log.warn({ error }, "the file of counters cannot be understood");
      return new Map();
    }
  }
}
