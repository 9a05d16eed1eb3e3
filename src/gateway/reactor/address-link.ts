// The gateway's end of the link for listening sockets: returns them to each new host, and takes the host's.
import { ADDRESS_HELLO, addressGreeting } from "../../contracts/address-passing.ts";
import { VersionMismatch } from "../../contracts/versions.ts";
import {
  connectForPassing,
  passDescriptors,
  takeDescriptors,
  MAX_DESCRIPTORS,
  type Delivery,
} from "../../lib/descriptor-passing.ts";
import { deliveryOf, parcelsIn, type Parcel } from "../../lib/socket-courier.ts";
import { EPOLLIN, libc } from "./libc.ts";
import type { Reactor, Watcher } from "./reactor.ts";

/** The events of the link. */
export interface AddressLinkEvents {
  /** The host speaks the version of this gateway. */
  greeted(): void;
  /** The host speaks another version, and the link has ended. */
  mismatched(error: VersionMismatch): void;
  /** A listening socket, which the gateway owns from then on; null when the gateway has to give the socket up. */
  received(id: string, fd: number | null): void;
  ended(): void;
}

export class AddressLink implements Watcher {
  readonly #reactor: Reactor;
  readonly #path: string;
  readonly #events: AddressLinkEvents;
  #fd: number | null = null;
  #isGreeted = false;

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
    this.#isGreeted = false;
    if (passDescriptors(fd, { text: ADDRESS_HELLO, descriptors: [] }) !== "sent") return false;
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
      if (!this.#isGreeted) this.#greet(delivery);
      else for (const [id, fd] of parcelsIn(delivery)) this.#events.received(id, fd);
    }
  }

  #greet({ text, descriptors }: Delivery): void {
    for (const fd of descriptors) libc.close(fd);
    try {
      addressGreeting("The host").check(text);
      this.#isGreeted = true;
    } catch (error) {
      if (!(error instanceof VersionMismatch)) throw error;
      this.#close();
      return this.#events.mismatched(error);
    }
    this.#events.greeted();
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
