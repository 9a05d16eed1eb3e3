// A TCP socket that keeps an address: it listens there itself, or keeps other programs away while an engine listens or
// is about to.
import { fchownSync } from "node:fs";
import { isIPv6 } from "node:net";
import { PublicError } from "./errors.ts";
import { TOO_MANY_FILES } from "./open-files.ts";
import {
  AF_INET,
  AF_INET6,
  EADDRINUSE,
  EMFILE,
  ENFILE,
  errno,
  IPPROTO_IPV6,
  IPPROTO_TCP,
  IPV6_V6ONLY,
  memoryOf,
  SHUT_RD,
  SO_ACCEPTCONN,
  SO_PROTOCOL,
  SO_REUSEADDR,
  SO_REUSEPORT,
  SO_TYPE,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  sockets,
  SOL_SOCKET,
} from "./socket-calls.ts";
import { inetName } from "./socket-names.ts";

/** The most connections that wait to be accepted; the kernel has a limit of its own beside it. */
export const BACKLOG = 4_096;

/** How often a socket tries to listen before the address counts as another program's. */
const LISTEN_TRIES = 3;

const [no, yes] = [new Int32Array([0]), new Int32Array([1])];

/** Where a socket listens. */
export interface Place {
  address: string;
  port: number;
}

/**
 * The kernel gives the address to no other program as long as one process has the socket open: a socket that listens,
 * or that does not let its address be reused, excludes every other, whatever the other's options and user are.
 */
export class HeldSocket {
  readonly fd: number;
  readonly place: Place;

  private constructor(fd: number, place: Place) {
    this.fd = fd;
    this.place = place;
  }

  /** Binds an address and listens there. @throws PublicError when another program has it. */
  static bind(place: Place): HeldSocket {
    const { address, port } = place;
    const isSix = isIPv6(address);
    const flags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    const fd = sockets.socket(isSix ? AF_INET6 : AF_INET, flags, 0);
    if (fd < 0) throw unmade(errno());
    // Leftover connections, of an earlier listener or of this, are no reason to refuse the address.
    setOption(fd, SOL_SOCKET, SO_REUSEADDR, yes);
    // The address `::` covers IPv4 as well.
    if (isSix && address !== "::") setOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, yes);
    const name = inetName(address, port);
    const isBound = sockets.bind(fd, memoryOf(name), name.length) === 0;
    if (!isBound || sockets.listen(fd, BACKLOG) !== 0) throw refusal(place, errno(), fd);
    return new HeldSocket(fd, place);
  }

  /**
   * Takes a socket that another process has handed over; null, and closed, when it is not a TCP socket of that place.
   */
  static from(fd: number, place: Place): HeldSocket | null {
    const name = new Uint8Array(28);
    const length = new Uint32Array([name.length]);
    const isNamed = sockets.getsockname(fd, memoryOf(name), memoryOf(length)) === 0;
    const wanted = inetName(place.address, place.port);
    const isThere = isNamed && length[0] === wanted.length && wanted.every((byte, at) => byte === name[at]);
    const isTcp = isThere && option(fd, SO_TYPE) === SOCK_STREAM && option(fd, SO_PROTOCOL) === IPPROTO_TCP;
    if (isTcp) return new HeldSocket(fd, place);
    sockets.close(fd);
    return null;
  }

  /**
   * Takes connections from here on; they wait in the kernel until a process accepts them.
   * @throws PublicError when another program listens.
   */
  listen(): void {
    setOption(this.fd, SOL_SOCKET, SO_REUSEPORT, no);
    // The kernel refuses two programs that begin to listen at the same instant. The host's next try succeeds.
    for (let tries = 1; ; tries++) {
      setOption(this.fd, SOL_SOCKET, SO_REUSEADDR, yes);
      if (sockets.listen(this.fd, BACKLOG) === 0) return;
      const reason = errno();
      setOption(this.fd, SOL_SOCKET, SO_REUSEADDR, no);
      if (tries === LISTEN_TRIES) throw refusal(this.place, reason);
    }
  }

  /** Refuses connections from here on, and lets no other program have the address. */
  reserve(): void {
    // A listener excludes all others, so the address may not be reused before the listener ends.
    setOption(this.fd, SOL_SOCKET, SO_REUSEADDR, no);
    setOption(this.fd, SOL_SOCKET, SO_REUSEPORT, no);
    this.#refuse();
  }

  /**
   * As `reserve`, but lets a program listen there that allows reuse of the address (SO_REUSEADDR), as every engine
   * does.
   */
  admit(): void {
    this.#refuse();
    setOption(this.fd, SOL_SOCKET, SO_REUSEADDR, yes);
  }

  /**
   * As `reserve`, but lets a program of that user listen there that shares the port (SO_REUSEPORT); the kernel compares
   * the owners of the sockets.
   */
  admitUser({ uid, gid }: { uid: number; gid: number }): void {
    this.reserve();
    fchownSync(this.fd, uid, gid);
    setOption(this.fd, SOL_SOCKET, SO_REUSEPORT, yes);
  }

  /** A socket that does not listen would keep the shutdown, and pass it on to each connection that it accepts later. */
  #refuse(): void {
    if (option(this.fd, SO_ACCEPTCONN) === 1) sockets.shutdown(this.fd, SHUT_RD);
  }

  /** Frees the address for other programs, even while another process still has the socket. */
  giveUp(): void {
    this.admit();
    this.close();
  }

  /** Leaves the address to the other processes that have the socket. */
  close(): void {
    sockets.close(this.fd);
  }
}

/** Whether a socket takes connections; a socket whose address the host has taken back does not. */
export function isListening(fd: number): boolean {
  return option(fd, SO_ACCEPTCONN) === 1;
}

function unmade(reason: number): Error {
  if ([EMFILE, ENFILE].includes(reason)) return new PublicError(TOO_MANY_FILES);
  return new Error(`a socket could not be made (${reason})`);
}

function refusal({ address, port }: Place, reason: number, fd?: number): PublicError {
  if (fd !== undefined) sockets.close(fd);
  return new PublicError(
    reason === EADDRINUSE
      ? `Port ${port} is in use by another program on this machine.`
      : `This machine cannot listen on ${address}:${port} (${reason}).`,
  );
}

function setOption(fd: number, level: number, name: number, value: Int32Array): void {
  sockets.setsockopt(fd, level, name, memoryOf(value), 4);
}

function option(fd: number, name: number): number {
  const value = new Int32Array(1);
  const length = new Uint32Array([4]);
  sockets.getsockopt(fd, SOL_SOCKET, name, memoryOf(value), memoryOf(length));
  return value[0] ?? -1;
}
