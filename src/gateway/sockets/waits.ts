// The waits of a socket: its read, and the callbacks for its end.
import { StreamEnded } from "../stream.ts";

/** A read that waits until so many bytes are unread. */
export interface PendingRead {
  length: number;
  resolve(): void;
  reject(error: StreamEnded): void;
}

export class Waits {
  read: PendingRead | null = null;
  readonly #onGone = new Set<() => void>();

  /** Whether anybody waits for the end of the connection. */
  get isHeld(): boolean {
    return this.#onGone.size > 0;
  }

  /** @returns a function that removes the callback. */
  onGone(action: () => void): () => void {
    this.#onGone.add(action);
    return () => this.#onGone.delete(action);
  }

  /** @param unread the count of unread bytes. */
  arrived(unread: number): void {
    const { read } = this;
    if (read === null || unread < read.length) return;
    this.read = null;
    read.resolve();
  }

  failRead(): void {
    const { read } = this;
    this.read = null;
    read?.reject(new StreamEnded());
  }

  /** Calls each `onGone` callback once. */
  notifyGone(): void {
    const actions = [...this.#onGone];
    this.#onGone.clear();
    for (const action of actions) action();
  }

  failAll(): void {
    this.failRead();
    this.notifyGone();
  }
}
