// The ends of engines while no host runs: has `pilvi up` watch the engines' processes, and reads the ends that it noted.
import { closeSync } from "node:fs";
import { engineEndSchema, processName, type EngineProcessName } from "../../contracts/engine-ends.ts";
import { readJsonAs } from "../../contracts/read.ts";
import { readIfPresent } from "../../lib/files.ts";
import { pidfdOpen } from "../../lib/libc.ts";
import type { Log } from "../../lib/log.ts";
import type { KeeperLink } from "../os/keeper-link.ts";

/** The part that the journal of an instance uses. */
export type ProcessEnds = Pick<EngineEnds, "watch" | "endOf">;

export class EngineEnds {
  readonly #file: string;
  readonly #keeper: Pick<KeeperLink, "keep" | "drop"> | null;
  readonly #log: Log;
  /** The ends that were read, by the name of their process. */
  readonly #ends = new Map<string, Date>();
  /** How much of the file was read, in characters: whole lines. */
  #read = 0;

  /** @param keeper null when no process watches engines for this host. */
  constructor(file: string, keeper: Pick<KeeperLink, "keep" | "drop"> | null, log: Log) {
    this.#file = file;
    this.#keeper = keeper;
    this.#log = log;
  }

  /** Has the end of a process noted that this host does not live to see. @param exited resolves at its end. */
  watch(process: EngineProcessName, exited: Promise<void>): void {
    if (this.#keeper === null) return;
    const fd = pidfdOpen(process.pid);
    if (typeof fd !== "number") return;
    const name = processName(process);
    this.#keeper.keep(name, fd);
    void this.#forget(name, fd, exited);
  }

  async #forget(name: string, fd: number, exited: Promise<void>): Promise<void> {
    await exited;
    this.#keeper?.drop(name);
    closeSync(fd);
  }

  /** When a process ended that a former host watched; null when nobody has seen that. */
  endOf(process: EngineProcessName): Date | null {
    this.#readOn();
    return this.#ends.get(processName(process)) ?? null;
  }

  /** Reads the lines that were added. A start asks for every engine that is gone, and a line is understood only once. */
  #readOn(): void {
    const text = readIfPresent(this.#file) ?? "";
    // A kill leaves at most the last line half written.
    const added = text.slice(this.#read, text.lastIndexOf("\n") + 1);
    this.#read += added.length;
    for (const line of added.split("\n").filter((each) => each !== "")) this.#take(line);
  }

  #take(line: string): void {
    try {
      const end = readJsonAs(engineEndSchema, line, "The end");
      const name = processName(end);
      if (!this.#ends.has(name)) this.#ends.set(name, new Date(end.at));
    } catch (error) {
      this.#log.warn({ error }, "the end of an engine cannot be understood");
    }
  }
}
