// How often and how long a login is tried at an engine that runs but takes no sessions yet or any more.
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
   * Waits before the next attempt after an error that may pass.
   * @throws the error itself when it would come again; EngineUnavailable when the time is over; StreamEnded.
   */
  async waitAfter(error: unknown): Promise<void> {
    if (!(error instanceof Error) || !isPassing(error)) throw error;
    if (performance.now() > this.#endsAtMs) throw new EngineUnavailable(error.message);
    this.#attempts += 1;
    await this.#backend.pause(this.#client, backoffMs(this.#attempts, FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
  }
}
