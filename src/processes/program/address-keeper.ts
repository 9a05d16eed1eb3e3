// Keeps a second copy of every socket that the host has for an address, so that no address is free when host and
// gateway end at once.
import { pairForPassing } from "../../lib/descriptor-passing.ts";
import { KEPT_ALL, SocketCourier } from "../../lib/socket-courier.ts";
import { sockets } from "../../lib/socket-calls.ts";

export class AddressKeeper {
  readonly #kept = new Map<string, number>();
  #host: SocketCourier | null = null;

  /**
   * Begins to keep copies for the next host, which gets all copies of the former host first.
   * @returns the descriptor that the host inherits; the caller closes it.
   */
  handOver(): number {
    // Sockets that a killed host has sent wait in the kernel.
    this.take();
    this.#host?.close();
    const [own, hosts] = pairForPassing();
    this.#host = new SocketCourier(own);
    this.#host.send(...this.#kept, KEPT_ALL);
    return hosts;
  }

  /** Takes the sockets that the host has sent, and drops those that it gives up. */
  take(): void {
    for (const [name, fd] of this.#host?.take() ?? []) {
      const former = this.#kept.get(name);
      if (former !== undefined) sockets.close(former);
      if (fd === null) this.#kept.delete(name);
      else this.#kept.set(name, fd);
    }
  }
}
