// The packets of git's protocol: four hexadecimal digits for the length of the whole packet, and the content.

/** The packet that ends a part of a conversation. */
export const FLUSH = "0000";

/** The digits before the content of each packet. */
export const LENGTH_DIGITS = 4;

/** The channels of an answer to a push; the answer itself is in a channel of its own. */
export const CHANNELS = { progress: 2, fault: 3 } as const;

/** A packet with that content, which may have at most 65,516 bytes. */
export function packetOf(content: Uint8Array): Buffer {
  const length = (LENGTH_DIGITS + content.length).toString(16).padStart(LENGTH_DIGITS, "0");
  return Buffer.concat([Buffer.from(length), content]);
}

/** A packet of a channel. */
export function channelPacket(channel: number, text: Uint8Array): Buffer {
  return packetOf(Buffer.concat([Buffer.from([channel]), text]));
}

/**
 * The length of a packet, in bytes with its digits.
 * @param digits four characters; 0 stands for a flush, NaN for what no packet begins with.
 */
export function packetLength(digits: string): number {
  return /^[\da-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
}
