// The link to the keeper, `pilvi up`, which keeps a copy of each address's socket over kills of host and gateway.
import { addressGreeting } from "../../contracts/address-passing.ts";
import { KEPT_ALL, SocketCourier, type Parcel } from "../../lib/socket-courier.ts";

/** The keeper sends everything before the host starts. The host does not wait longer for a stopped keeper. */
const RECALL_TIMEOUT_MS = 2_000;
const RECALL_INTERVAL_MS = 2;

export class KeeperLink {
  readonly #courier: SocketCourier;

  /**
   * @param fd the inherited end of the socket pair.
   * @param onSent called when the keeper has sent a parcel.
   */
  constructor(fd: number, onSent: () => void) {
    this.#courier = new SocketCourier(fd, addressGreeting("`pilvi up`"), onSent);
  }

  /**
   * The sockets of the previous host. The caller owns the descriptors.
   * @throws VersionMismatch when `pilvi up` speaks another version, and so keeps nothing for this host.
   */
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

  /** Has the keeper keep a socket in place of the former. It must stay open here until dropped or replaced. */
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
