// Passes on the observations of a driver to the work queue: a single instance at once, and thousands in few statements.
import type { ObservedInstance } from "./queue.ts";

const MAX_BATCH = 1_000;

/** Collects observations while earlier ones are being sent. The observations of an instance are sent in their order. */
export class RequeueBatches {
  readonly #send: (batch: ObservedInstance[]) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #pending: ObservedInstance[] = [];
  #isSending = false;

  /** @param onError gets the errors of `send`, whose batch is lost; a watch that begins anew makes up for it. */
  constructor(send: (batch: ObservedInstance[]) => Promise<void>, onError: (error: unknown) => void) {
    this.#send = send;
    this.#onError = onError;
  }

  add(observed: ObservedInstance): void {
    this.#pending.push(observed);
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#pending.length > 0) {
      const batch = this.#nextBatch();
      this.#pending = this.#pending.slice(batch.length);
      await this.#send(batch).catch(this.#onError);
    }
    this.#isSending = false;
  }

  /** Contains no instance twice, since a statement can hold only one observation of each. */
  #nextBatch(): ObservedInstance[] {
    const seen = new Set<string>();
    const isNew = ({ instanceId }: ObservedInstance) =>
      !seen.has(instanceId) && seen.add(instanceId).size > 0;
    const end = this.#pending.findIndex((observed) => !isNew(observed));
    return this.#pending.slice(0, Math.min(end === -1 ? MAX_BATCH : end, MAX_BATCH));
  }
}
