// The gateway's end of what hands it the sockets that it listens at: it gives them back to each new host, and takes those of that host.
import {
  connectForPassing,
  passDescriptors,
  takeDescriptors,
  MAX_DESCRIPTORS,
} from "../../lib/descriptor-passing.ts";
import { deliveryOf, parcelsIn, type Parcel } from "../../lib/socket-courier.ts";
import { EPOLLIN, libc } from "./libc.ts";
import type { Reactor, Watcher } from "./reactor.ts";

/** What is done when the host hands something over, or is gone. */
export interface AddressLinkEvents {
  /** A socket that listens, whose owner the gateway is from then on; null when it is to have none any more. */
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
   * Connects to a new host and hands over what the gateway has, which a host that was killed has lost.
   * @returns false when it could not be done.
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
