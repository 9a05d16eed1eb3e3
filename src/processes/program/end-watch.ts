// Notes when engines end while no host runs. The host has sent a descriptor of each engine's process, which becomes
// readable at the end of the process, also when its parent is another process by then.
import { appendFileSync, rmSync } from "node:fs";
import { processOf, type EngineEnd } from "../../contracts/engine-ends.ts";
import { messageOf } from "../../lib/errors.ts";
import { readableDescriptors } from "../../lib/libc.ts";
import { sockets } from "../../lib/socket-calls.ts";

/** As often as a host looks for the end of an engine that an earlier host started. */
const CHECK_INTERVAL_MS = 20;

export class EndWatch {
  readonly #file: string;
  readonly #complain: (sentence: string) => void;
  readonly #kept = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param file where the next host finds the ends. @param complain called with a sentence for people. */
  constructor(file: string, complain: (sentence: string) => void) {
    this.#file = file;
    this.#complain = complain;
  }

  /** Keeps the descriptor of a process, which belongs to this object from then on; null when the process has ended. */
  keep(name: string, descriptor: number | null): void {
    const former = this.#kept.get(name);
    if (former !== undefined) sockets.close(former);
    if (descriptor === null) this.#kept.delete(name);
    else this.#kept.set(name, descriptor);
  }

  /** The host has ended: from now on the ends of engines are noted. */
  begin(): void {
    this.#check();
    this.#timer ??= setInterval(() => this.#check(), CHECK_INTERVAL_MS);
    this.#timer.unref();
  }

  /** A host runs that has read the file, and sees the ends of all engines itself. */
  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    rmSync(this.#file, { force: true });
  }

  #check(): void {
    const at = new Date().toISOString();
    const ended = new Set(readableDescriptors([...this.#kept.values()]));
    for (const [name, descriptor] of this.#kept) {
      if (!ended.has(descriptor)) continue;
      this.#note(name, at);
      this.keep(name, null);
    }
  }

  /** Without the note, the next host records the times between which the engine ended. */
  #note(name: string, at: string): void {
    const ended = processOf(name);
    if (ended === null) return;
    try {
      appendFileSync(this.#file, `${JSON.stringify({ ...ended, at } satisfies EngineEnd)}\n`, {
        mode: 0o600,
      });
    } catch (error) {
      this.#complain(`The end of an engine could not be noted: ${messageOf(error)}`);
    }
  }
}
