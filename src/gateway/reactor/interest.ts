// The epoll events for which one descriptor is watched.
import type { Secured } from "./endpoint.ts";
import { EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT } from "./libc.ts";
import type { Reactor, Watcher } from "./reactor.ts";

/** The connection cannot be written to any more; epoll reports these events always. */
export const BREAKS = EPOLLERR | EPOLLHUP;

export class Interest {
  readonly #reactor: Reactor;
  readonly #fd: number;
  readonly #watcher: Watcher;
  /** 0 when the descriptor is not watched: epoll would report the end of the connection even for no events. */
  #events = 0;

  constructor(reactor: Reactor, fd: number, watcher: Watcher) {
    this.#reactor = reactor;
    this.#fd = fd;
    this.#watcher = watcher;
  }

  /** @param events a set of `EPOLL...` bits, or 0. */
  set(events: number): void {
    if (events === this.#events) return;
    if (events === 0) this.#reactor.unwatch(this.#fd);
    else if (this.#events === 0) this.#reactor.watch(this.#fd, events, this.#watcher);
    else this.#reactor.rewatch(this.#fd, events);
    this.#events = events;
  }
}

/** The event to wait for before the next read. */
export function inputEvent(secured: Secured | null): typeof EPOLLIN | typeof EPOLLOUT {
  return secured?.mustSendToRead === true ? EPOLLOUT : EPOLLIN;
}
