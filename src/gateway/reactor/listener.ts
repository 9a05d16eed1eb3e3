// Listens at one address and accepts whoever comes.
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
import { listenOn, peerText, tune } from "./sockets.ts";

const ACCEPTS_IN_A_ROW = 64;
/** How long nobody is accepted when the process has no descriptor left, or no memory; until then they wait in the kernel. */
const PAUSE_MS = 50;
/** Nobody is there any more; the next one may be. */
const PASSING = new Set([EAGAIN, EINTR, ECONNABORTED]);

const peer = new Uint8Array(28);
const peerAddress = addressOf(peer);
const peerLength = new Uint32Array(1);
const peerLengthAddress = addressOf(peerLength);

export class Listener implements Watcher {
  readonly #reactor: Reactor;
  readonly #fd: number;
  readonly #accepted: (fd: number, address: string) => void;
  #isClosed = false;

  /**
   * @param accepted gets the descriptor, which is its own from then on, and the client's address and port.
   * @throws Error with a sentence for people when the address cannot be had.
   */
  constructor(
    reactor: Reactor,
    where: { address: string; port: number },
    accepted: (fd: number, address: string) => void,
  ) {
    this.#reactor = reactor;
    this.#accepted = accepted;
    this.#fd = listenOn(where.address, where.port);
    reactor.watch(this.#fd, EPOLLIN, this);
  }

  /** From the return of this on, others can have the address. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reactor.unwatch(this.#fd);
    libc.close(this.#fd);
  }

  ready(): void {
    for (let count = 0; count < ACCEPTS_IN_A_ROW && !this.#isClosed; count++) {
      peerLength[0] = peer.length;
      const fd = libc.accept4(this.#fd, peerAddress, peerLengthAddress, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return PASSING.has(errno()) ? undefined : this.#pause();
      tune(fd);
      this.#accepted(fd, peerText(peer));
    }
  }

  failed(): void {
    if (!this.#isClosed) this.#pause();
  }

  #pause(): void {
    this.#reactor.rewatch(this.#fd, 0);
    this.#reactor.timers.after(PAUSE_MS, () => {
      if (!this.#isClosed) this.#reactor.rewatch(this.#fd, EPOLLIN);
    });
  }
}
