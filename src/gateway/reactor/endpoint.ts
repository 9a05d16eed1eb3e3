// Non-blocking reads and writes of a connected socket, in clear or through TLS.
import { FAILED, WANT_READ, WANT_WRITE } from "../io-result.ts";
import { EAGAIN, EINTR, errno, libc, MSG_NOSIGNAL } from "./libc.ts";

/** A TLS session on a socket; its reads and writes return the same results as `receive` and `transmit`. */
export interface Secured {
  read(address: number, length: number): number;
  write(address: number, length: number): number;
  /** More than 0 when a read has bytes although the socket is not readable. */
  readonly pending: number;
  /** Whether a read needs a writable socket before it can go on. */
  readonly mustSendToRead: boolean;
  /** Sends the end of the session to the peer. */
  shutdown(): void;
  free(): void;
}

/**
 * Reads at most `length` bytes into memory.
 * @returns the count of bytes, or `ENDED`, `WANT_READ`, `WANT_WRITE` or `FAILED`.
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
 * Writes as much of `length` bytes of memory as the kernel takes.
 * @returns the count of bytes, more than 0, or `WANT_WRITE` or `FAILED`.
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

/** Chunks that are thrown away in a row before other sockets get their turn. */
const DISCARDS_IN_A_ROW = 8;

/**
 * Throws away the unread bytes of a socket, by way of `length` bytes of memory.
 * @returns whether the connection is over.
 */
export function discard(fd: number, address: number, length: number): boolean {
  for (let chunks = 0; chunks < DISCARDS_IN_A_ROW; chunks++) {
    const count = receive(fd, null, address, length);
    if (count <= 0) return count !== WANT_READ;
  }
  return false;
}
