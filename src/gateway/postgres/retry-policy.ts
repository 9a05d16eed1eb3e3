// How long a login goes on with an engine that runs, but does not take anybody yet or any more.
import { backoffMs } from "../../lib/backoff.ts";
import { EngineUnavailable, HOLD_MS, type Backend } from "../backend.ts";
import type { ClientStream, Stream } from "../stream.ts";
import { isPassing } from "./errors.ts";

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

export class RetryPolicy<C extends ClientStream, E extends Stream> {
  readonly #client: C;
  readonly #backend: Backend<C, E>;
  readonly #endsAtMs = performance.now() + HOLD_MS;
  #attempts = 0;

  constructor(client: C, backend: Backend<C, E>) {
    this.#client = client;
    this.#backend = backend;
  }

  /**
   * Waits until it makes sense to try again what ended with this error.
   * @throws the error itself, when it would come again; EngineUnavailable, when the time is over; StreamEnded.
   */
  async waitAfter(error: unknown): Promise<void> {
    if (!(error instanceof Error) || !isPassing(error)) throw error;
    if (performance.now() > this.#endsAtMs) throw new EngineUnavailable(error.message);
    this.#attempts += 1;
    await this.#backend.pause(this.#client, backoffMs(this.#attempts, FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
  }
}
