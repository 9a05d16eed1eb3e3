// Finds out that the keeper is silent: a process that is stopped keeps its connections, so that requests would wait for
// ever. A slow target is no silence, since the keeper answers questions meanwhile.

/** How often the keeper is asked whether it lives, while requests wait for it. */
const INTERVAL_MS = 5_000;

/** How long the keeper may leave a question without an answer; a busy machine needs some seconds. */
const SILENCE_MS = 20_000;

/** The keeper left a question without an answer for too long. */
class KeeperSilent extends Error {
  override name = "KeeperSilent";
}

/** The watch over one request. */
interface PulseWatch {
  /** Aborted with `KeeperSilent` as soon as the keeper counts as silent. */
  silence: AbortSignal;
  /** The request has ended. */
  end(): void;
}

/** What a pulse is felt with. */
export interface PulseParts {
  /** Asks the keeper anything that it answers at once. */
  ask(signal: AbortSignal): Promise<unknown>;
  intervalMs?: number;
  silenceMs?: number;
}

export class KeeperPulse {
  readonly #parts: PulseParts;
  readonly #waiting = new Set<AbortController>();
  #isBeating = false;

  constructor(parts: PulseParts) {
    this.#parts = parts;
  }

  /** Watches over a request until its end. */
  watch(): PulseWatch {
    const request = new AbortController();
    this.#waiting.add(request);
    if (!this.#isBeating) void this.#beat();
    return { silence: request.signal, end: () => void this.#waiting.delete(request) };
  }

  async #beat(): Promise<void> {
    this.#isBeating = true;
    while (this.#waiting.size > 0) {
      await restFor(this.#parts.intervalMs ?? INTERVAL_MS);
      // Requests that begin from here on have their own question.
      const waiting = [...this.#waiting];
      if (waiting.length === 0 || (await this.#answers())) continue;
      for (const request of waiting)
        if (this.#waiting.has(request)) request.abort(new KeeperSilent("the keeper is silent"));
    }
    this.#isBeating = false;
  }

  /** A keeper that ended is not silent: the kernel ends its connections. */
  async #answers(): Promise<boolean> {
    const late = AbortSignal.timeout(this.#parts.silenceMs ?? SILENCE_MS);
    await this.#parts.ask(late).catch(() => undefined);
    return !late.aborted;
  }
}

/** Keeps no process alive whose requests have ended. */
async function restFor(ms: number): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, ms).unref());
}
