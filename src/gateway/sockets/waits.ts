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
  readonly #onPeerEnd = new Set<() => void>();
  readonly #onGone = new Set<() => void>();

  /** Whether anybody waits for the end of the connection. */
  get isHeld(): boolean {
    return this.#onPeerEnd.size + this.#onGone.size > 0;
  }

  /**
   * @param isOver whether the peer sends nothing more already.
   * @returns a function that removes the callback.
   */
  onPeerEnd(action: () => void, isOver: boolean): () => void {
    return add(this.#onPeerEnd, action, isOver);
  }

  /** @param isOver whether nothing can be written any more already. @returns as `onPeerEnd`. */
  onGone(action: () => void, isOver: boolean): () => void {
    return add(this.#onGone, action, isOver);
  }

  /** Begins the read. @throws StreamEnded by `failRead`. */
  until(length: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.read = { length, resolve, reject };
    });
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

  /** Calls each `onPeerEnd` callback once. */
  notifyPeerEnd(): void {
    callOnce(this.#onPeerEnd);
  }

  /** Calls each callback once: a peer to which nothing can be sent has ended as well. */
  notifyGone(): void {
    callOnce(this.#onPeerEnd);
    callOnce(this.#onGone);
  }

  failAll(): void {
    this.failRead();
    this.notifyGone();
  }
}

function add(callbacks: Set<() => void>, action: () => void, isOver: boolean): () => void {
  if (isOver) action();
  else callbacks.add(action);
  return () => callbacks.delete(action);
}

function callOnce(callbacks: Set<() => void>): void {
  const actions = [...callbacks];
  callbacks.clear();
  for (const action of actions) action();
}
