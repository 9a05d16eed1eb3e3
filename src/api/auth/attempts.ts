// Slows down guesses of passwords: after a few failures each further attempt has to wait longer, by address and by
// account.
import { networkOf } from "../../lib/network.ts";
import { ApiError } from "../jsonapi/errors.ts";

/** Failures without a delay. An address may stand for the people of a whole office. */
const FREE = { account: 5, address: 20 };
const FIRST_DELAY_MS = 2_000;
const LONGEST_DELAY_MS = 5 * 60_000;
/** After this time without an attempt everything is forgotten. */
const FORGET_MS = 15 * 60_000;
const MAX_ENTRIES = 10_000;

interface Entry {
  failures: number;
  latestMs: number;
}

/** The failed attempts of a process, in bounded memory: the entries that were used least recently go first. */
export class Attempts {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;

  /** @param now milliseconds that never go back, so that a clock that is set changes no wait. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Counts an attempt as failed before it is made, so that many at once get no further than one after the other.
   * @returns a function for an attempt that succeeded.
   * @throws ApiError 429 with `Retry-After` when it comes too soon.
   */
  begin(account: string, address: string): () => void {
    const keys = [
      { key: `account ${account}`, free: FREE.account },
      ...(address === "" ? [] : [{ key: `address ${networkOf(address)}`, free: FREE.address }]),
    ];
    const nowMs = this.#now();
    const waitMs = Math.max(...keys.map(({ key, free }) => this.#waitOf(key, free, nowMs)));
    if (waitMs > 0) throw tooMany(waitMs);
    for (const { key } of keys) this.#add(key, nowMs);
    return () => {
      for (const { key } of keys) this.#takeBack(key);
    };
  }

  #waitOf(key: string, free: number, nowMs: number): number {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.failures < free || entry.latestMs + FORGET_MS <= nowMs) return 0;
    const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (entry.failures - free));
    return Math.max(0, entry.latestMs + delayMs - nowMs);
  }

  /** Only an account is forgotten: a login with an account of one's own must not free an address for more guesses. */
  #takeBack(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.failures -= 1;
    if (key.startsWith("account ") || entry.failures === 0) this.#entries.delete(key);
  }

  #add(key: string, nowMs: number): void {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const isFresh = known !== undefined && known.latestMs + FORGET_MS > nowMs;
    this.#entries.set(key, { failures: (isFresh ? known.failures : 0) + 1, latestMs: nowMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
  }
}

function tooMany(waitMs: number): ApiError {
  const seconds = Math.ceil(waitMs / 1000);
  const pause = seconds === 1 ? "a second" : `${seconds} seconds`;
  return new ApiError(429, `There were too many failed attempts. Try again in ${pause}.`, {
    headers: { "Retry-After": String(seconds) },
  });
}
