// Bounds what clients have sent to other clients between two checks of the buffers: each sender is within its rate, but
// many senders on a channel with many subscribers are not within the memory.
import type { Channel } from "./channel.ts";

interface Limits {
  /** The most bytes for each subscriber of a channel. */
  channelBytes: number;
  /** The most bytes for all receivers together. */
  allBytes: number;
}

/** Well below what a check leaves waiting for one client, so that other clients cannot have an honest reader closed. */
const EVENT_LIMITS: Limits = { channelBytes: 512 * 1024, allBytes: 64 * 1024 ** 2 };
/**
 * Higher, so that members may enter a channel however many events its clients send: a client tries a refused event
 * again, and hardly ever a refused subscription.
 */
const ARRIVAL_LIMITS: Limits = { channelBytes: 768 * 1024, allBytes: 96 * 1024 ** 2 };

export class ClientBudget {
  /** The number of checks, by which a channel's count of an earlier time is known. */
  #round = 0;
  #allBytes = 0;

  /** Everything may be sent again; called at each check by the clock. */
  renew(): void {
    this.#round += 1;
    this.#allBytes = 0;
  }

  /**
   * Counts a client's event to the subscribers of a channel. The event that reaches a limit still passes, so that a
   * channel may have more subscribers than the limit has room for.
   * @returns false when too much was sent already.
   */
  takeEvent(channel: Channel, frame: string): boolean {
    return this.#take(channel, frame, EVENT_LIMITS);
  }

  /** As `takeEvent`, for the notice of a new member of a presence channel. */
  takeArrival(channel: Channel, frame: string): boolean {
    return this.#take(channel, frame, ARRIVAL_LIMITS);
  }

  /** Counts the notice of a member that left, which cannot be refused: each has an arrival before it. */
  countDeparture(channel: Channel, frame: string): void {
    this.#count(channel, frame);
  }

  #take(channel: Channel, frame: string, { channelBytes, allBytes }: Limits): boolean {
    if (this.#allBytes >= allBytes || this.#bytesOf(channel) >= channelBytes) return false;
    this.#count(channel, frame);
    return true;
  }

  #bytesOf({ clientBytes, clientBytesRound }: Channel): number {
    return clientBytesRound === this.#round ? clientBytes : 0;
  }

  #count(channel: Channel, frame: string): void {
    const bytes = Buffer.byteLength(frame);
    channel.clientBytes = this.#bytesOf(channel) + bytes;
    channel.clientBytesRound = this.#round;
    this.#allBytes += bytes * channel.subscriptionCount;
  }
}
