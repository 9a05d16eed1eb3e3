// The last event of each cache channel, kept for a time even without a subscriber, within bounds.
import { CACHE_TTL_SECONDS } from "./protocol/limits.ts";

interface LastEvent {
  name: string;
  data: string;
  expiresAt: number;
}

/** The most that one application may keep; the events that were set longest ago go first. */
const MAX_BYTES = 16 * 1024 ** 2;

export class LastEvents {
  readonly #events = new Map<string, LastEvent>();
  readonly #now: () => number;
  #bytes = 0;

  /** @param now the time in milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  set(channel: string, name: string, data: string): void {
    this.#delete(channel);
    this.#events.set(channel, { name, data, expiresAt: this.#now() + CACHE_TTL_SECONDS * 1_000 });
    this.#bytes += sizeOf(channel, data);
    for (const [oldest, { expiresAt }] of this.#events) {
      if (this.#bytes <= MAX_BYTES && expiresAt > this.#now()) return;
      this.#delete(oldest);
    }
  }

  /** The event with the seconds for which it is kept, or undefined when there is no event. */
  get(channel: string): { name: string; data: string; ttlSeconds: number } | undefined {
    const event = this.#events.get(channel);
    if (event === undefined) return undefined;
    const ttlMs = event.expiresAt - this.#now();
    if (ttlMs > 0) return { name: event.name, data: event.data, ttlSeconds: Math.ceil(ttlMs / 1_000) };
    this.#delete(channel);
    return undefined;
  }

  #delete(channel: string): void {
    const event = this.#events.get(channel);
    if (event === undefined) return;
    this.#events.delete(channel);
    this.#bytes -= sizeOf(channel, event.data);
  }
}

/** The approximate size of an event, in bytes. */
function sizeOf(channel: string, data: string): number {
  return channel.length + data.length * 2 + 100;
}
