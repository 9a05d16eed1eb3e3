// The greeting of processes that pass the sockets of addresses to each other.
import { ADDRESS_PASSING_VERSION, checkHello, helloLine } from "./versions.ts";

/** The first message of each side. */
export const ADDRESS_HELLO = helloLine(ADDRESS_PASSING_VERSION);

/**
 * The greeting of a side.
 * @param peer the name of the other side, as the subject of a sentence.
 */
export function addressGreeting(peer: string): { text: string; check(text: string): void } {
  return { text: ADDRESS_HELLO, check: (text) => checkHello(text, ADDRESS_PASSING_VERSION, peer) };
}
