// The connections that a server of this process has accepted, as the kernel knows them: Bun shows no connection before
// its first request.
import { readdirSync, statSync } from "node:fs";
import { CString, type Pointer } from "bun:ffi";
import { openFileLimit } from "./open-files.ts";
import { AF_INET, AF_INET6, memoryOf, SHUT_RDWR, sockets } from "./socket-calls.ts";

/** The most descriptors to try; no process that runs out of them has more. */
const MOST_DESCRIPTORS = 1_048_576;
const SOCKADDR_BYTES = 28;
const TEXT_BYTES = 46;

/** A connection of a client. */
interface AcceptedSocket {
  fd: number;
  /** The client's address, in the form of `Server.requestIP`. */
  address: string;
  port: number;
}

const name = new DataView(new ArrayBuffer(SOCKADDR_BYTES));
const length = new Uint32Array(1);
const text = new Uint8Array(TEXT_BYTES);

/**
 * All connections to a port of this process. It takes some milliseconds for each thousand descriptors.
 * @param most descriptors that the process may have, for when no descriptor is left to read their list with.
 */
export function acceptedSockets(port: number, most = openFileLimit()): AcceptedSocket[] {
  const found: AcceptedSocket[] = [];
  for (const fd of descriptors(most)) {
    if (!ask(sockets.getsockname, fd) || name.getUint16(2) !== port) continue;
    // A listening socket has no peer.
    if (ask(sockets.getpeername, fd)) found.push({ fd, address: addressText(), port: name.getUint16(2) });
  }
  return found;
}

/** All open descriptors; where no descriptor is left to read their list with, all that may be open. */
function descriptors(most: number): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch {
    return Array.from({ length: Math.min(most, MOST_DESCRIPTORS) }, (_, fd) => fd);
  }
}

/** How many descriptors this process has; null where the kernel does not say (before Linux 6.2). */
export function openDescriptors(): number | null {
  const { size } = statSync("/proc/self/fd");
  return size === 0 ? null : size;
}

/**
 * Makes the kernel queue more connections that the server has not accepted yet: beyond Bun's 512, clients try again
 * after seconds.
 */
export function deepenQueue(port: number, connections: number): void {
  for (const fd of listenersAt(port)) sockets.listen(fd, connections);
}

/** The sockets of this process that listen at a port. */
export function listenersAt(port: number): number[] {
  return descriptors(openFileLimit()).filter(
    (fd) => ask(sockets.getsockname, fd) && name.getUint16(2) === port && !ask(sockets.getpeername, fd),
  );
}

/** Ends a connection. To its owner the client seems to have ended it, so the owner closes the descriptor. */
export function hangUp(fd: number): void {
  sockets.shutdown(fd, SHUT_RDWR);
}

function ask(call: typeof sockets.getsockname, fd: number): boolean {
  length[0] = SOCKADDR_BYTES;
  if (call(fd, memoryOf(name), memoryOf(length)) !== 0) return false;
  // For a unix socket the place of the port has the beginning of its path.
  const family = name.getUint16(0, true);
  return family === AF_INET || family === AF_INET6;
}

function addressText(): string {
  if (name.getUint16(0, true) === AF_INET) {
    return `${name.getUint8(4)}.${name.getUint8(5)}.${name.getUint8(6)}.${name.getUint8(7)}`;
  }
  const ipv6 = new Uint8Array(name.buffer, 8, 16);
  return new CString(
    sockets.inet_ntop(AF_INET6, memoryOf(ipv6), memoryOf(text), TEXT_BYTES) as Pointer,
  ).toString();
}
