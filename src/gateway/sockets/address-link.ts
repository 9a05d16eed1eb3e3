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
import { sockets } from "../../lib/socket-calls.ts";
import type { Timer, Timers } from "./timers.ts";

/** Bun cannot wait for such a descriptor, so it is looked at at this interval, and at each message of the host. */
const LOOK_INTERVAL_MS = 20;

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

export class AddressLink {
  readonly #timers: Timers;
  readonly #path: string;
  readonly #events: AddressLinkEvents;
  #fd: number | null = null;
  #isGreeted = false;
  #timer: Timer | null = null;

  /** @param path the host's unix socket for addresses. */
  constructor(timers: Timers, path: string, events: AddressLinkEvents) {
    this.#timers = timers;
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
    this.#isGreeted = false;
    this.#lookLater();
    if (passDescriptors(fd, { text: ADDRESS_HELLO, descriptors: [] }) !== "sent") return false;
    for (let at = 0; at < held.length; at += MAX_DESCRIPTORS) {
      const delivery = deliveryOf(held.slice(at, at + MAX_DESCRIPTORS));
      if (passDescriptors(fd, delivery) !== "sent") return false;
    }
    return true;
  }

  /** Takes what the host has sent. */
  look(): void {
    for (;;) {
      if (this.#fd === null) return;
      const delivery = takeDescriptors(this.#fd);
      if (delivery === "nothing") return;
      if (delivery === "ended") return this.#end();
      if (!this.#isGreeted) this.#greet(delivery);
      else for (const [id, fd] of parcelsIn(delivery)) this.#events.received(id, fd);
    }
  }

  /** Ends the link; the sockets of the gateway stay open. */
  close(): void {
    this.#close();
  }

  #lookLater(): void {
    this.#timer = this.#timers.after(LOOK_INTERVAL_MS, () => {
      this.#lookLater();
      this.look();
    });
  }

  #greet({ text, descriptors }: Delivery): void {
    for (const fd of descriptors) sockets.close(fd);
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

  #end(): void {
    this.#close();
    this.#events.ended();
  }

  #close(): void {
    this.#timer?.cancel();
    if (this.#fd === null) return;
    sockets.close(this.#fd);
    this.#fd = null;
  }
}
