// The gateway's end of the link for listening sockets: returns them to each new host, and takes the host's.
import {
  connectForPassing,
  passDescriptors,
  takeDescriptors,
  MAX_DESCRIPTORS,
} from "../../lib/descriptor-passing.ts";
import { deliveryOf, parcelsIn, type Parcel } from "../../lib/socket-courier.ts";
import { EPOLLIN, libc } from "./libc.ts";
import type { Reactor, Watcher } from "./reactor.ts";

/** The events of the link. */
export interface AddressLinkEvents {
  /** A listening socket, which the gateway owns from then on; null when the gateway has to give the socket up. */
  received(id: string, fd: number | null): void;
  ended(): void;
}

export class AddressLink implements Watcher {
  readonly #reactor: Reactor;
  readonly #path: string;
  readonly #events: AddressLinkEvents;
  #fd: number | null = null;

  /** @param path the host's unix socket for addresses. */
  constructor(reactor: Reactor, path: string, events: AddressLinkEvents) {
    this.#reactor = reactor;
    this.#path = path;
    this.#events = events;
  }

  /**
   * Connects to a new host and passes it the gateway's sockets, which a killed host has lost.
   * @returns false without a connection, or when the passing failed.
   */
  connect(held: Parcel[]): boolean {
    this.#close();
    const fd = connectForPassing(this.#path);
    if (fd === null) return false;
    this.#fd = fd;
    this.#reactor.watch(fd, EPOLLIN, this);
    for (let at = 0; at < held.length; at += MAX_DESCRIPTORS) {
      const delivery = deliveryOf(held.slice(at, at + MAX_DESCRIPTORS));
      if (passDescriptors(fd, delivery) !== "sent") return false;
    }
    return true;
  }

  ready(): void {
    for (;;) {
      if (this.#fd === null) return;
      const delivery = takeDescriptors(this.#fd);
      if (delivery === "nothing") return;
      if (delivery === "ended") return this.#end();
      for (const [id, fd] of parcelsIn(delivery)) this.#events.received(id, fd);
    }
  }

  failed(): void {
    this.#end();
  }

  #end(): void {
    this.#close();
    this.#events.ended();
  }

  #close(): void {
    if (this.#fd === null) return;
    this.#reactor.unwatch(this.#fd);
    libc.close(this.#fd);
    this.#fd = null;
  }
}
