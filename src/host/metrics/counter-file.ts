// Keeps counters as they were read last, so that the next host counts on from there.
import { readFileSync, rmSync } from "node:fs";
import type * as z from "zod/mini";
import { readJsonAs } from "../../contracts/read.ts";
import { codeOf } from "../../lib/errors.ts";
import { replaceFile } from "../../lib/files.ts";
import type { Log } from "../../lib/log.ts";

/** The counters of something by its id. */
export class CounterFile<Counted> {
  readonly #path: string;
  readonly #schema: z.ZodMiniType<Record<string, Counted>>;
  readonly #log: Pick<Log, "warn">;
  /** The counters that an earlier host has left, and that this host has not read yet. */
  readonly #former: Map<string, Counted>;
  /** Whether an earlier host has left counters. */
  readonly wasKept: boolean;
  #text = "";

  constructor(path: string, schema: z.ZodMiniType<Record<string, Counted>>, log: Pick<Log, "warn">) {
    this.#path = path;
    this.#schema = schema;
    this.#log = log;
    const former = this.#read();
    this.wasKept = former !== null;
    this.#former = new Map(Object.entries(former ?? {}));
  }

  /** The counters that an earlier host has read last; undefined for an id that it has never read. */
  former(id: string): Counted | undefined {
    return this.#former.get(id);
  }

  /**
   * Replaces the file. It is written before the readings that it belongs to, so that a kill in between costs a minute,
   * and counts none twice. Never throws: a full disk costs readings after a kill, and nothing else.
   * @param present all ids that there are.
   */
  write(counted: ReadonlyMap<string, Counted>, present: ReadonlySet<string>): void {
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

  #read(): Record<string, Counted> | null {
    try {
      return readJsonAs(this.#schema, readFileSync(this.#path, "utf8"), "The file of counters");
    } catch (error) {
      if (codeOf(error) !== "ENOENT") this.#log.warn({ error }, "the file of counters cannot be understood");
      return null;
    }
  }
}
