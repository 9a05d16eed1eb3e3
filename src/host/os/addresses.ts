// The addresses of all instances. The host keeps a socket at each for life, so that no other program takes it.
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { addressGreeting } from "../../contracts/address-passing.ts";
import { VersionMismatch } from "../../contracts/versions.ts";
import { acceptForPassing, listenForPassing } from "../../lib/descriptor-passing.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { HeldSocket, type Place } from "../../lib/held-socket.ts";
import type { Log } from "../../lib/log.ts";
import { sockets } from "../../lib/socket-calls.ts";
import { SocketCourier, type Parcel } from "../../lib/socket-courier.ts";
import type { Account } from "../../engines/engine.ts";
import { canSwitchUsers, GATEWAY_ACCOUNT } from "./accounts.ts";
import { guardBinding, refusingOthers, type BindGuard } from "./bind-guard.ts";
import type { KeeperLink } from "./keeper-link.ts";

/** A gateway from before this host connects again within this time. */
const MEETING_MS = 1_000;

/** The kernel keeps some thousand sockets under way, so those of a gateway are taken at this interval meanwhile. */
const TAKE_INTERVAL_MS = 5;

/** The listening side of an address: the gateway with the host's socket, or an engine with a socket beside it. */
export type Side = "gateway" | "engine";

interface Holding {
  socket: HeldSocket;
  side: Side;
}

/** A socket that the previous host held. */
interface Offer {
  fd: number;
  /** Whether the keeper has a copy of it. */
  isKept: boolean;
}

/** The part of the addresses that an instance uses. */
export type InstanceAddresses = Pick<Addresses, "hold" | "admit" | "settle" | "drop">;

/** The part of the addresses that concerns a gateway as a whole. */
export type GatewayAddresses = Pick<Addresses, "expect" | "meet" | "stopExpecting">;

export class Addresses {
  readonly #log: Log;
  /** Null when only the gateway has copies. */
  readonly #keeper: KeeperLink | null;
  readonly #held = new Map<string, Holding>();
  /** The guards of addresses that engines are about to take, by instance. */
  readonly #guards = new Map<string, BindGuard>();
  /** Sockets that the keeper and the gateway kept for this host, by instance. */
  readonly #offered = new Map<string, Offer[]>();
  readonly #met = Promise.withResolvers<void>();
  #isKnown: (id: string) => boolean = () => true;
  #listener: number | null = null;
  #gateway: SocketCourier | null = null;
  /** Runs while a gateway hands over its sockets. */
  #taking: ReturnType<typeof setInterval> | undefined;
  /** The complaint about the latest gateway, when that speaks another version. */
  #mismatch: string | null = null;

  constructor(log: Log, keeper: KeeperLink | null = null) {
    this.#log = log;
    this.#keeper = keeper;
  }

  /**
   * Takes back the keeper's sockets, and begins to listen for the gateway.
   * @param isKnown whether an instance exists; sockets of other ids are closed.
   */
  async listen(path: string, isKnown: (id: string) => boolean): Promise<void> {
    this.#isKnown = isKnown;
    for (const parcel of await this.#recalled()) this.#offer(parcel, true);
    mkdirSync(dirname(path), { recursive: true, mode: 0o711 });
    rmSync(path, { force: true });
    this.#listener = listenForPassing(path);
    // Every connection here receives all proxied addresses.
    chmodSync(path, 0o600);
    if (canSwitchUsers()) chownSync(path, GATEWAY_ACCOUNT.uid, GATEWAY_ACCOUNT.gid);
    setTimeout(() => this.#met.resolve(), MEETING_MS).unref();
  }

  /** A gateway has connected: takes the sockets that it hands over, as they come. */
  expect(): void {
    clearInterval(this.#taking);
    this.#taking = setInterval(() => this.#take(), TAKE_INTERVAL_MS);
  }

  /** The gateway has handed over all sockets: sends it the sockets to listen at. */
  meet(): void {
    clearInterval(this.#taking);
    this.#take();
    const parcels: Parcel[] = [];
    for (const [id, { socket, side }] of this.#held) if (side === "gateway") parcels.push([id, socket.fd]);
    this.#send(...parcels);
    this.#met.resolve();
  }

  /** The gateway has gone, and hands nothing over any more. */
  stopExpecting(): void {
    clearInterval(this.#taking);
  }

  /**
   * Holds the address of an instance for a side.
   * @param isEngineThere whether the engine runs and so has the address itself: then the gateway is not awaited.
   * @throws PublicError when another program has the address; the former address is still held then.
   */
  async hold(id: string, place: Place, side: Side, isEngineThere = false): Promise<void> {
    const former = this.#held.get(id);
    const isSame = former?.socket.place.address === place.address && former.socket.place.port === place.port;
    if (isSame && former.side === side) return;
    const socket = isSame ? former.socket : await this.#bind(id, place, side === "engine" && isEngineThere);
    await failpoint("host.address.bound");
    if (side === "gateway") refusingOthers(place.port, () => socket.listen());
    else socket.reserve();
    this.#held.set(id, { socket, side });
    if (side === "gateway") this.#send([id, socket.fd]);
    else this.#gateway?.drop(id);
  }

  /**
   * Lets an engine listen at its address, until `settle`.
   * @param user the engine's own user.
   * @param sharesPort whether the engine shares its port. Another engine only reuses the address, as other programs may:
   * the kernel refuses other users meanwhile, where this process has the rights to make it do so.
   */
  admit(id: string, user: Account, sharesPort: boolean): void {
    const held = this.#held.get(id);
    if (held?.side !== "engine") return;
    if (sharesPort) return held.socket.admitUser(user);
    this.#guard(id, held.socket.place, user);
    held.socket.admit();
  }

  /** Refuses new listeners at the address of an engine. Present listeners stay. */
  settle(id: string): void {
    const held = this.#held.get(id);
    if (held?.side === "engine") held.socket.reserve();
    this.#unguard(id);
  }

  /** A gateway that has not greeted may be of another version. It gets all sockets when it has handed over its own. */
  #send(...parcels: Parcel[]): void {
    if (this.#gateway?.isGreeted === true) this.#gateway.send(...parcels);
  }

  #guard(id: string, { port }: Place, { uid }: Account): void {
    this.#unguard(id);
    const guard = guardBinding(port, uid);
    if (guard !== null) this.#guards.set(id, guard);
  }

  #unguard(id: string): void {
    this.#guards.get(id)?.close();
    this.#guards.delete(id);
  }

  /** Releases the address for other programs. */
  drop(id: string): void {
    this.#gateway?.drop(id);
    this.#keeper?.drop(id);
    this.#held.get(id)?.socket.giveUp();
    this.#held.delete(id);
    this.#unguard(id);
    this.#refuseOffers(id);
  }

  /** Closes the host's sockets. The keeper, the gateway and the engines keep theirs. */
  close(): void {
    this.stopExpecting();
    this.#gateway?.close();
    this.#keeper?.close();
    if (this.#listener !== null) sockets.close(this.#listener);
    this.#listener = null;
    for (const { socket } of this.#held.values()) socket.close();
    this.#held.clear();
    for (const id of this.#guards.keys()) this.#unguard(id);
    for (const id of this.#offered.keys()) this.#refuseOffers(id);
  }

  async #bind(id: string, place: Place, isTaken: boolean): Promise<HeldSocket> {
    try {
      return this.#takeOffer(id, place) ?? this.#replace(id, place);
    } catch (error) {
      if (isTaken) throw error;
      // A gateway may still hold the address from the previous host, so the gateway is awaited before another try.
      await this.#met.promise;
      const offered = this.#takeOffer(id, place);
      if (offered !== null) return offered;
      this.#log.debug({ error, instance: id }, "an address is not free");
      return this.#replace(id, place);
    }
  }

  /** Binds a new address before the release of the former, which may cover or lie within it. */
  #replace(id: string, place: Place): HeldSocket {
    const former = this.#held.get(id);
    const socket = former === undefined ? HeldSocket.bind(place) : bindBeside(former, place);
    this.#gateway?.drop(id);
    this.#keeper?.keep(id, socket.fd);
    former?.socket.giveUp();
    return socket;
  }

  #takeOffer(id: string, place: Place): HeldSocket | null {
    const offers = this.#offered.get(id) ?? [];
    while (offers.length > 0) {
      const offer = offers.shift();
      const socket = offer === undefined ? null : HeldSocket.from(offer.fd, place);
      if (socket === null) continue;
      this.#refuseOffers(id);
      this.#held.get(id)?.socket.close();
      if (offer?.isKept === false) this.#keeper?.keep(id, socket.fd);
      return socket;
    }
    return null;
  }

  async #recalled(): Promise<Parcel[]> {
    try {
      return (await this.#keeper?.recall()) ?? [];
    } catch (error) {
      this.#complain(error);
      return [];
    }
  }

  /** Takes what the gateway has sent, also over an earlier connection. */
  #take(): void {
    for (;;) {
      for (const parcel of this.#taken()) this.#offer(parcel, false);
      const fd = this.#listener === null ? null : acceptForPassing(this.#listener);
      if (fd === null) return;
      this.#gateway?.close();
      this.#gateway = new SocketCourier(fd, addressGreeting("The gateway"));
    }
  }

  #taken(): Parcel[] {
    if (this.#gateway === null) return [];
    try {
      const parcels = this.#gateway.take();
      if (this.#gateway.isGreeted) this.#mismatch = null;
      return parcels;
    } catch (error) {
      this.#complain(error);
      return [];
    }
  }

  /** A gateway of another version connects again and again; the log gets one line about it. */
  #complain(error: unknown): void {
    if (!(error instanceof VersionMismatch)) throw error;
    if (error.message !== this.#mismatch)
      this.#log.error({ error }, "no sockets of addresses can be taken over");
    this.#mismatch = error.message;
  }

  #offer([id, fd]: Parcel, isKept: boolean): void {
    const isWanted = this.#isKnown(id) && !this.#held.has(id);
    if (isKept && !isWanted) this.#keeper?.drop(id);
    if (fd === null) return;
    if (!isWanted) sockets.close(fd);
    else this.#offered.set(id, [...(this.#offered.get(id) ?? []), { fd, isKept }]);
  }

  #refuseOffers(id: string): void {
    for (const { fd } of this.#offered.get(id) ?? []) sockets.close(fd);
    this.#offered.delete(id);
  }
}

/** Binds an address that may cover the former or lie within it. @throws PublicError; the former is still held then. */
function bindBeside({ socket, side }: Holding, place: Place): HeldSocket {
  return refusingOthers(socket.place.port, () => {
    socket.admit();
    try {
      return HeldSocket.bind(place);
    } catch (error) {
      if (side === "gateway") socket.listen();
      else socket.reserve();
      throw error;
    }
  });
}
