// The host's questions to the gateway for the clients of sessions, each with its answer.

/** The gateway answers from memory; without an answer in this time a list has no addresses. */
const TIMEOUT_MS = 1_000;

/** The address of each session's client, in the order of the question. */
type Addresses = readonly (string | null)[];

export class AddressQuestions {
  readonly #waiting = new Map<number, (addresses: Addresses) => void>();
  readonly #timeoutMs: number;
  #latest = 0;

  constructor(timeoutMs = TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs;
  }

  /** @param send sends the question of this number. @returns nothing when no answer comes in time. */
  async ask(send: (question: number) => void): Promise<Addresses> {
    const question = ++this.#latest;
    const { promise, resolve } = Promise.withResolvers<Addresses>();
    const timer = setTimeout(() => resolve([]), this.#timeoutMs);
    this.#waiting.set(question, resolve);
    send(question);
    const addresses = await promise;
    clearTimeout(timer);
    this.#waiting.delete(question);
    return addresses;
  }

  answered(question: number, addresses: Addresses): void {
    this.#waiting.get(question)?.(addresses);
  }

  /** The gateway has gone, so no answer comes. */
  abandon(): void {
    for (const resolve of this.#waiting.values()) resolve([]);
  }
}
