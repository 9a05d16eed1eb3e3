// How many requests a token may make in a minute, counted in memory.
import { MACHINE_CLOCKS, type Clocks } from "../../lib/steady-clock.ts";

const WINDOW_MS = 60_000;

/** Beyond this number, tokens whose minute is over are forgotten. */
const MAX_TOKENS = 10_000;

interface Window {
  endsAtMs: number;
  used: number;
}

/** The state of a token's limit for the answer. */
export interface Allowance {
  isExceeded: boolean;
  headers: Record<string, string>;
  /** Seconds until the minute is over. */
  resetSeconds: number;
}

/** Counts requests by token. Only known tokens may be counted, or clients without a token could fill the memory. */
export class RateLimiter {
  readonly #limit: number;
  readonly #clocks: Clocks;
  readonly #windows = new Map<string, Window>();

  /** @param limit requests a minute and token; 0 means no limit. */
  constructor(limit: number, clocks: Clocks = MACHINE_CLOCKS) {
    this.#limit = limit;
    this.#clocks = clocks;
  }

  /** Counts one request. */
  take(tokenId: string): Allowance {
    if (this.#limit === 0) return { isExceeded: false, headers: {}, resetSeconds: 0 };
    // A wall clock that is set back would make the minute longer.
    const nowMs = this.#clocks.monotonic();
    const window = this.#windowOf(tokenId, nowMs);
    window.used += 1;
    const remaining = Math.max(0, this.#limit - window.used);
    const leftMs = window.endsAtMs - nowMs;
    const resetSeconds = Math.max(1, Math.ceil(leftMs / 1000));
    return {
      isExceeded: window.used > this.#limit,
      resetSeconds,
      headers: {
        "X-RateLimit-Limit": String(this.#limit),
        "X-RateLimit-Remaining": String(remaining),
        "X-RateLimit-Reset": String(Math.ceil((this.#clocks.wall() + leftMs) / 1000)),
        "RateLimit-Policy": `"token";q=${this.#limit};w=${WINDOW_MS / 1000}`,
        RateLimit: `"token";r=${remaining};t=${resetSeconds}`,
      },
    };
  }

  #windowOf(tokenId: string, nowMs: number): Window {
    const known = this.#windows.get(tokenId);
    if (known !== undefined && known.endsAtMs > nowMs) return known;
    if (this.#windows.size >= MAX_TOKENS) this.#forgetOld(nowMs);
    const window = { endsAtMs: nowMs + WINDOW_MS, used: 0 };
    this.#windows.set(tokenId, window);
    return window;
  }

  #forgetOld(nowMs: number): void {
    for (const [tokenId, window] of this.#windows) {
      if (window.endsAtMs <= nowMs) this.#windows.delete(tokenId);
    }
  }
}
