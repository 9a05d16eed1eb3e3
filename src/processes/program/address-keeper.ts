// Keeps a second copy of every socket that the host has for an address, so that no address is free when host and
// gateway end at once. Passes descriptors of engines' processes on to the watch of their ends.
import { addressGreeting } from "../../contracts/address-passing.ts";
import { processOf } from "../../contracts/engine-ends.ts";
import { VersionMismatch } from "../../contracts/versions.ts";
import { pairForPassing } from "../../lib/descriptor-passing.ts";
import { KEPT_ALL, SocketCourier, type Parcel } from "../../lib/socket-courier.ts";
import { sockets } from "../../lib/socket-calls.ts";
import type { EndWatch } from "./end-watch.ts";

export class AddressKeeper {
  readonly #kept = new Map<string, number>();
  readonly #complain: (sentence: string) => void;
  readonly #ends: EndWatch;
  #host: SocketCourier | null = null;

  /**
   * @param ends gets the descriptors of engines' processes.
   * @param complain called with a sentence for people when a host speaks another version.
   */
  constructor(ends: EndWatch, complain: (sentence: string) => void) {
    this.#ends = ends;
    this.#complain = complain;
  }

  /** The host has ended. */
  hostEnded(): void {
    // What a killed host has sent waits in the kernel.
    this.take();
    this.#ends.begin();
  }

  /** The next host has found its engines. */
  hostRuns(): void {
    this.#ends.end();
  }

  /**
   * Begins to keep copies for the next host, which gets all copies of the former host first.
   * @returns the descriptor that the host inherits; the caller closes it.
   */
  handOver(): number {
    // Sockets that a killed host has sent wait in the kernel.
    this.take();
    this.#host?.close();
    const [own, hosts] = pairForPassing();
    this.#host = new SocketCourier(own, addressGreeting("The host"));
    this.#host.send(...this.#kept, KEPT_ALL);
    return hosts;
  }

  /** Takes the sockets that the host has sent, and drops those that it gives up. */
  take(): void {
    for (const [name, fd] of this.#taken()) {
      if (processOf(name) !== null) {
        this.#ends.keep(name, fd);
        continue;
      }
      const former = this.#kept.get(name);
      if (former !== undefined) sockets.close(former);
      if (fd === null) this.#kept.delete(name);
      else this.#kept.set(name, fd);
    }
  }

  #taken(): Parcel[] {
    try {
      return this.#host?.take() ?? [];
    } catch (error) {
      if (!(error instanceof VersionMismatch)) throw error;
      this.#complain(`The addresses of this host are not kept. ${error.message}`);
      return [];
    }
  }
}
