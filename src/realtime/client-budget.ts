// Bounds what clients have sent to other clients between two checks of the buffers: each sender is within its rate, but
// many senders on a channel with many subscribers are not within the memory.
import type { Channel } from "./channel.ts";

/** Well below what a check leaves waiting for one client, so that other clients cannot have an honest reader closed. */
const MAX_CHANNEL_BYTES = 512 * 1024;
/** The most for all receivers together. */
const MAX_ALL_BYTES = 64 * 1024 ** 2;

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
    if (this.#allBytes >= MAX_ALL_BYTES || this.#bytesOf(channel) >= MAX_CHANNEL_BYTES) return false;
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
