// Listening sockets of instances whose route has not arrived yet. No client is accepted at them.
import { sockets } from "../../lib/socket-calls.ts";

export class EarlySockets {
  /** From the present host. */
  readonly #present = new Map<string, number>();
  /** From former hosts. The present host is to get them, and sends those of its instances back. */
  readonly #former = new Map<string, number>();

  /** Keeps a socket of the present host, in place of any other of the instance, and owns it from then on. */
  keep(id: string, fd: number): void {
    this.forget(id);
    this.#present.set(id, fd);
  }

  /** Gives away the present host's socket of an instance; null without one. */
  take(id: string): number | null {
    const fd = this.#present.get(id);
    this.#present.delete(id);
    return fd ?? null;
  }

  forget(id: string): void {
    closeIn(this.#present, id);
    closeIn(this.#former, id);
  }

  /** Another host has connected. @returns the instances whose sockets that host is to get. */
  change(): string[] {
    for (const [id, fd] of this.#present) {
      closeIn(this.#former, id);
      this.#former.set(id, fd);
    }
    this.#present.clear();
    return [...this.#former.keys()];
  }

  /** A socket that the present host is to get, which stays here; null without one. */
  formerOf(id: string): number | null {
    return this.#former.get(id) ?? null;
  }

  /** The present host has got them. */
  forgetFormer(): void {
    for (const id of this.#former.keys()) closeIn(this.#former, id);
  }
}

function closeIn(kept: Map<string, number>, id: string): void {
  const fd = kept.get(id);
  if (fd !== undefined) sockets.close(fd);
  kept.delete(id);
}
