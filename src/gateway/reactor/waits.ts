// The waits of a socket: its read, its step, and the callbacks for its end.
import { StreamEnded } from "../stream.ts";
import type { PendingRead } from "./pending-read.ts";

/** A wait for the socket to be ready for a step that is not a read, such as the TLS handshake. */
export interface PendingStep {
  /** The awaited `EPOLL...` bit. */
  event: number;
  resolve(): void;
  reject(error: StreamEnded): void;
}

export class Waits {
  read: PendingRead | null = null;
  step: PendingStep | null = null;
  readonly #onGone = new Set<() => void>();

  /** @returns a function that removes the callback. */
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

  /** Calls each `onGone` callback once. */
  notifyGone(): void {
    const actions = [...this.#onGone];
    this.#onGone.clear();
    for (const action of actions) action();
  }

  failAll(): void {
    this.failRead();
    const { step } = this;
    this.step = null;
    step?.reject(new StreamEnded());
    this.notifyGone();
  }
}
