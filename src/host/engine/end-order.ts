// The order to end the engine of an instance, in memory and on the disk: a later host goes on with it.
import { rmSync } from "node:fs";
import { endOrderSchema, type EndOrderRecord } from "../../contracts/end-order.ts";
import { readJsonAs } from "../../contracts/read.ts";
import { readIfPresent, replaceFile } from "../../lib/files.ts";
import type { Log } from "../../lib/log.ts";
import type { InstanceFolder } from "../os/layout.ts";
import { identityOf, machineUpMs } from "../os/process-times.ts";

/** A process of the instance. */
interface Process {
  pid: number;
}

export class EndOrder {
  readonly #path: string;
  readonly #log: Log;
  #record: EndOrderRecord | null = null;

  constructor({ endOrder }: Pick<InstanceFolder, "endOrder">, log: Log) {
    this.#path = endOrder;
    this.#log = log;
  }

  /** Whether the instance is to stay ended. */
  get isFinal(): boolean {
    return this.#record?.isFinal === true;
  }

  /** Reads the order of an earlier host. @param running the process that runs the instance now; null without any. */
  read(running: Process | null): void {
    const record = this.#read();
    // Another process was started since, as by an earlier Pilvi, which knows of no orders.
    const isCurrent = running === null ? record?.isFinal : record?.process === identityOf(running.pid);
    if (isCurrent === true) this.#record = record;
    else if (record !== null) this.#drop();
  }

  /** How long the process that was asked to end may still take; null when this process was not asked. */
  leftMs(process: Process): number | null {
    const killAtUpMs = this.#record?.killAtUpMs ?? null;
    return killAtUpMs === null || !this.isFor(process) ? null : Math.max(0, killAtUpMs - machineUpMs());
  }

  /** Whether the order is for this process of this host, which may have ended meanwhile. */
  isFor({ pid }: Process): boolean {
    return this.#record?.process?.startsWith(`${pid} `) === true;
  }

  /** Orders that the instance stays ended, before its process is asked to end. */
  makeFinal(running: Process | null): void {
    const process = running === null ? null : identityOf(running.pid);
    const killAtUpMs = process === this.#record?.process ? this.#record.killAtUpMs : null;
    this.#write({ isFinal: true, process, killAtUpMs });
  }

  /** The process was asked to end. */
  asked({ pid }: Process, timeoutMs: number): void {
    const process = identityOf(pid);
    if (process === null) return;
    this.#write({ isFinal: this.isFinal, process, killAtUpMs: machineUpMs() + timeoutMs });
  }

  /** The process has ended. */
  carriedOut(): void {
    if (!this.isFinal) this.forget();
  }

  /** The instance is ordered to run again. @returns whether it was to stay ended. */
  takeBack(): boolean {
    if (!this.isFinal) return false;
    this.#drop();
    return true;
  }

  /** Drops the order, because another process takes the place of the ended one. */
  forget(): void {
    if (this.#record !== null) this.#drop();
  }

  #read(): EndOrderRecord | null {
    try {
      const text = readIfPresent(this.#path);
      return text === null ? null : readJsonAs(endOrderSchema, text, "The order to end");
    } catch (error) {
      this.#log.warn({ error }, "an order to end cannot be understood");
      return null;
    }
  }

  /** On a full disk, the order holds for this host alone. */
  #write(record: EndOrderRecord): void {
    this.#record = record;
    try {
      replaceFile(this.#path, JSON.stringify(record), 0o600);
    } catch (error) {
      this.#log.warn({ error }, "an order to end could not be kept");
    }
  }

  #drop(): void {
    this.#record = null;
    rmSync(this.#path, { force: true });
  }
}
