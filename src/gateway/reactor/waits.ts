// Who waits for something to happen to a socket.
import { StreamEnded } from "../stream.ts";
import type { PendingRead } from "./pending-read.ts";

/** Waits for the socket to be ready for a step that is not a read of bytes. */
export interface PendingStep {
  /** The `EPOLL...` bit that it waits for. */
  event: number;
  resolve(): void;
  reject(error: StreamEnded): void;
}

export class Waits {
  read: PendingRead | null = null;
  step: PendingStep | null = null;
  readonly #onGone = new Set<() => void>();

  /** @returns what takes it back. */
  onGone(action: () => void): () => void {
    this.#onGone.add(action);
    return () => this.#onGone.delete(action);
  }

  /** The socket is ready for the step. */
  endStep(): void {
    const { step } = this;
    this.step = null;
    step?.resolve();
  }

  failRead(): void {
    const { read } = this;
    this.read = null;
    read?.fail();
  }

  /** Tells each once. */
  tellGone(): void {
    const actions = [...this.#onGone];
    this.#onGone.clear();
    for (const action of actions) action();
  }

  failAll(): void {
    this.failRead();
    const { step } = this;
    this.step = null;
    step?.reject(new StreamEnded());
    this.tellGone();
  }
}
