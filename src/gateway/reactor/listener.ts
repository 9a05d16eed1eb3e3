// Accepts clients at a listening socket.
import {
  addressOf,
  EAGAIN,
  ECONNABORTED,
  EINTR,
  EPOLLIN,
  errno,
  libc,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
} from "./libc.ts";
import type { Reactor, Watcher } from "./reactor.ts";
import { peerText, tune } from "./sockets.ts";

const ACCEPTS_IN_A_ROW = 64;
/** How long clients wait in the kernel's queue when the process has no descriptor or no memory left. */
const PAUSE_MS = 50;
/** The socket does not listen any more: the host has taken the address back. */
const EINVAL = 22;
/** Errors that are no fault of the socket: the client has gone, or no client is waiting. */
const PASSING = new Set([EAGAIN, EINTR, ECONNABORTED]);

const peer = new Uint8Array(28);
const peerAddress = addressOf(peer);
const peerLength = new Uint32Array(1);
const peerLengthAddress = addressOf(peerLength);

export class Listener implements Watcher {
  readonly #reactor: Reactor;
  /** The socket; `close` closes it. */
  readonly fd: number;
  readonly #accepted: (fd: number, address: string) => void;
  #isClosed = false;

  /**
   * @param fd a listening socket, which this listener owns from then on.
   * @param accepted gets the client's descriptor, which it owns from then on, and the client's address and port.
   */
  constructor(reactor: Reactor, fd: number, accepted: (fd: number, address: string) => void) {
    this.#reactor = reactor;
    this.#accepted = accepted;
    this.fd = fd;
    reactor.watch(fd, EPOLLIN, this);
  }

  /** Accepts no client any more. Later clients wait in the kernel for another process that has the socket. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reactor.unwatch(this.fd);
    libc.close(this.fd);
  }

  ready(): void {
    for (let count = 0; count < ACCEPTS_IN_A_ROW && !this.#isClosed; count++) {
      peerLength[0] = peer.length;
      const fd = libc.accept4(this.fd, peerAddress, peerLengthAddress, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return this.#refused(errno());
      tune(fd);
      this.#accepted(fd, peerText(peer));
    }
  }

  failed(): void {
    if (!this.#isClosed) this.#pause();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  #refused(reason: number): void {
    if (PASSING.has(reason)) return;
    if (reason === EINVAL) this.close();
    else this.#pause();
  }

  #pause(): void {
    this.#reactor.rewatch(this.fd, 0);
    this.#reactor.timers.after(PAUSE_MS, () => {
      if (!this.#isClosed) this.#reactor.rewatch(this.fd, EPOLLIN);
    });
  }
}
