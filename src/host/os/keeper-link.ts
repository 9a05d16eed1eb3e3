// The host's end of what keeps a second copy of each address's socket: `pilvi up`, which lives on when host and gateway are killed.
import { KEPT_ALL, SocketCourier, type Parcel } from "../../lib/socket-courier.ts";

/** The keeper has sent everything before the host is started; one that is stopped is not waited for. */
const RECALL_TIMEOUT_MS = 2_000;
const RECALL_INTERVAL_MS = 2;

export class KeeperLink {
  readonly #courier: SocketCourier;

  /**
   * @param fd the inherited end of the pair.
   * @param onSent called when the keeper has something to take.
   */
  constructor(fd: number, onSent: () => void) {
    this.#courier = new SocketCourier(fd, onSent);
  }

  /** What the host before this one had; the descriptors are the caller's. */
  async recall(): Promise<Parcel[]> {
    const parcels: Parcel[] = [];
    const giveUpAt = performance.now() + RECALL_TIMEOUT_MS;
    for (;;) {
      parcels.push(...this.#courier.take());
      const isAll = parcels.at(-1)?.[0] === KEPT_ALL[0];
      if (isAll || this.#courier.isClosed || performance.now() > giveUpAt) return parcels;
      await Bun.sleep(RECALL_INTERVAL_MS);
    }
  }

  /** Has a socket kept in place of the one before; it must stay open here until it is dropped, or another is kept. */
  keep(id: string, fd: number): void {
    this.#courier.drop(id);
    this.#courier.send([id, fd]);
  }

  drop(id: string): void {
    this.#courier.drop(id);
  }

  close(): void {
    this.#courier.close();
  }
}
