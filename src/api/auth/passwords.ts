// Hashes and checks passwords off the event loop, only a few at a time, so that a flood of them harms no other request.
import { ApiError } from "../jsonapi/errors.ts";

const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
/** Each takes a processor for some 30 ms, and 19 MiB. */
const MAX_RUNNING = 2;
const MAX_WAITING = 32;

/** The password hashing of one process. */
export class Passwords {
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  #dummy: Promise<string> | undefined;

  /** @throws ApiError 429 while too many others wait. */
  async hash(password: string): Promise<string> {
    return await this.#bounded(() => Bun.password.hash(password, ARGON2ID));
  }

  /**
   * Whether the password has this hash. Without a hash the check costs the same, so that the time does not reveal which
   * accounts exist.
   * @throws ApiError 429 while too many others wait.
   */
  async check(password: string, hash: string | null | undefined): Promise<boolean> {
    return await this.#bounded(async () => {
      this.#dummy ??= Bun.password.hash("no password", ARGON2ID);
      const isRight = await Bun.password.verify(password, hash ?? (await this.#dummy));
      return isRight && typeof hash === "string";
    });
  }

  async #bounded<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#running >= MAX_RUNNING) await this.#turn();
    else this.#running += 1;
    try {
      return await task();
    } finally {
      // The place goes to the next one directly.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async #turn(): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) {
      throw new ApiError(429, "Too many passwords are being checked at the moment. Try again soon.", {
        headers: { "Retry-After": "2" },
      });
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await promise;
  }
}
