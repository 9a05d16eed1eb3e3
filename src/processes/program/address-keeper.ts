// Keeps a second copy of every socket that the host has for an address, so that no address is free when host and gateway end at once.
import { pairForPassing } from "../../lib/descriptor-passing.ts";
import { KEPT_ALL, SocketCourier } from "../../lib/socket-courier.ts";
import { sockets } from "../../lib/socket-calls.ts";

export class AddressKeeper {
  readonly #kept = new Map<string, number>();
  #host: SocketCourier | null = null;

  /**
   * Begins to keep for the next host, which gets all that is kept first.
   * @returns the descriptor that it is to inherit, the caller's to close.
   */
  handOver(): number {
    // What a killed host has sent waits in the kernel.
    this.take();
    this.#host?.close();
    const [own, hosts] = pairForPassing();
    this.#host = new SocketCourier(own);
    this.#host.send(...this.#kept, KEPT_ALL);
    return hosts;
  }

  /** Takes what the host has sent, or wants no more to be kept. */
  take(): void {
    for (const [name, fd] of this.#host?.take() ?? []) {
      const former = this.#kept.get(name);
      if (former !== undefined) sockets.close(former);
      if (fd === null) this.#kept.delete(name);
      else this.#kept.set(name, fd);
    }
  }
}
