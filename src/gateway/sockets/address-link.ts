// The gateway's end of the link for listening sockets: hands the gateway's over to each new host, and takes the host's.
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
/** This is the interval while the host has not taken enough for the next sockets. */
const RETRY_MS = 5;

/** The events of the link. */
export interface AddressLinkEvents {
  /** The host speaks the version of this gateway. */
  greeted(): void;
  /** The host speaks another version, and the link has ended. */
  mismatched(error: VersionMismatch): void;
  /**
   * Finds a socket that is about to be handed over, which the gateway may have closed or replaced since `connect`; null
   * without one.
   */
  socketOf(id: string): number | null;
  /** The gateway has sent all sockets. The kernel keeps them until the host reads them. */
  handedOver(): void;
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
  /** The instances whose sockets the host is still to get; null once all have been handed over. */
  #unsent: string[] | null = null;
  #timer: Timer | null = null;

  /** @param path the host's unix socket for addresses. */
  constructor(timers: Timers, path: string, events: AddressLinkEvents) {
    this.#timers = timers;
    this.#path = path;
    this.#events = events;
  }

  /**
   * Connects to a new host and hands over the gateway's sockets, which a killed host has lost. The kernel keeps some
   * thousand under way, so the rest follows as the host takes them.
   * @param held the instances whose sockets the gateway has.
   * @returns false without a connection.
   */
  connect(held: readonly string[]): boolean {
    this.#close();
    const fd = connectForPassing(this.#path);
    if (fd === null) return false;
    this.#fd = fd;
    this.#isGreeted = false;
    this.#unsent = [...held];
    if (passDescriptors(fd, { text: ADDRESS_HELLO, descriptors: [] }) !== "sent") return false;
    this.#handOver();
    this.#lookLater();
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
    if (this.#fd === null) return;
    const afterMs = this.#unsent === null ? LOOK_INTERVAL_MS : RETRY_MS;
    this.#timer = this.#timers.after(afterMs, () => {
      this.#lookLater();
      this.look();
      this.#handOver();
    });
  }

  /** Passes sockets until the kernel takes no more of them, or all are sent. */
  #handOver(): void {
    while (this.#fd !== null && this.#unsent !== null) {
      const parcels = this.#unsent.slice(0, MAX_DESCRIPTORS).flatMap((id) => this.#parcelOf(id));
      const result = parcels.length === 0 ? "sent" : passDescriptors(this.#fd, deliveryOf(parcels));
      if (result === "full") return;
      if (result === "broken") return this.#broken();
      this.#unsent.splice(0, MAX_DESCRIPTORS);
      if (this.#unsent.length > 0) continue;
      this.#unsent = null;
      this.#events.handedOver();
    }
  }

  #parcelOf(id: string): Parcel[] {
    const fd = this.#events.socketOf(id);
    return fd === null ? [] : [[id, fd]];
  }

  /** Nothing can be sent any more. The host's last message may say that it is of another version. */
  #broken(): void {
    this.look();
    if (this.#fd !== null) this.#end();
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
