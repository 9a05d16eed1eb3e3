// The bytes of a connected socket, in clear or through TLS, as calls that never wait.
import { FAILED, WANT_READ, WANT_WRITE } from "../io-result.ts";
import { EAGAIN, EINTR, errno, libc, MSG_NOSIGNAL } from "./libc.ts";

/** A session of TLS on a socket; its reads and writes are as those of this file. */
export interface Secured {
  read(address: number, length: number): number;
  write(address: number, length: number): number;
  /** More than 0 when a read has something to tell although the socket is not readable. */
  readonly pending: number;
  /** Whether a read can go on only when the socket is writable. */
  readonly mustSendToRead: boolean;
  /** Tells the peer that nothing more comes. */
  shutdown(): void;
  free(): void;
}

/**
 * Reads at most so many bytes into memory.
 * @returns how many, or one of `ENDED`, `WANT_READ`, `WANT_WRITE` and `FAILED`.
 */
export function receive(fd: number, secured: Secured | null, address: number, length: number): number {
  if (secured !== null) return secured.read(address, length);
  for (;;) {
    const count = libc.recv(fd, address as never, length, 0);
    if (count >= 0) return count;
    const reason = errno();
    if (reason !== EINTR) return reason === EAGAIN ? WANT_READ : FAILED;
  }
}

/**
 * Writes what the kernel takes of so many bytes of memory.
 * @returns how many, more than 0, or one of `WANT_WRITE` and `FAILED`.
 */
export function transmit(fd: number, secured: Secured | null, address: number, length: number): number {
  if (secured !== null) return secured.write(address, length);
  for (;;) {
    const count = libc.send(fd, address as never, length, MSG_NOSIGNAL);
    if (count >= 0) return count;
    const reason = errno();
    if (reason !== EINTR) return reason === EAGAIN ? WANT_WRITE : FAILED;
  }
}

/** Chunks that are thrown away in a row before others get their turn. */
const DISCARDS_IN_A_ROW = 8;

/**
 * Throws away what the kernel has for a socket, by way of that memory.
 * @returns whether the connection is over.
 */
export function discard(fd: number, address: number, length: number): boolean {
  for (let chunks = 0; chunks < DISCARDS_IN_A_ROW; chunks++) {
    const count = receive(fd, null, address, length);
    if (count <= 0) return count !== WANT_READ;
  }
  return false;
}
