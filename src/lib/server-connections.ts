// Bounds the connections of a server of Bun's, so that no flood takes all descriptors of its process. Beyond a bound,
// unproved connections go first. Among equals the client with the most connections loses some of them, the longest
// silent first.
import { acceptedSockets, hangUp, openDescriptors } from "./accepted-sockets.ts";
import { networkOf } from "./network.ts";
import { openFileLimit } from "./open-files.ts";

/** Bounds on the number of connections. */
export interface ConnectionBounds {
  all: number;
  /** The bound on connections whose client has proved nothing. */
  unproved: number;
  /** For how long a new connection is safe from that bound, to send its request; half a second when left out. */
  graceMs?: number;
}

/** The address of a client, as `Server.requestIP` returns it. */
export interface PeerAddress {
  address: string;
  port: number;
}

/** A request under way. */
export interface Call {
  /** The network that the client belongs to; empty for a client that has gone already. */
  network: string;
  /**
   * Whether the client has proved nothing and its network has more than its share of many unproved connections; its
   * request then deserves no more work than a refusal.
   */
  isRefused: boolean;
  /** Proves the client from now on. @param owner the owner that the connection counts for, in place of its network. */
  prove(owner?: string): void;
  /** The request is answered. */
  end(): void;
}

/** How often connections are checked when they are few, and when they are many. */
const CALM_MS = 100;
const CROWDED_MS = 50;
/** How long the number of descriptors alone may save a check. */
const LONGEST_UNSEEN_MS = 5_000;
/**
 * The largest share of its time that a process spends on checks, and the longest pause between them: in a longer pause
 * thousands would come.
 */
const LOOKING_SHARE = 1 / 8;
const LONGEST_PAUSE_MS = 250;
/** From this share of the bound on, an unproved connection must not be silent for longer than this. */
const CROWDED_SHARE = 1 / 2;
const PATIENCE_MS = 5_000;
const GRACE_MS = 500;
/** From this share of the bound on, requests are refused to networks with more unproved connections than theirs. */
const REFUSING_SHARE = 1 / 4;
const SHARE_OF_NETWORK = 1 / 16;
/** How old the last check may be while requests are refused. */
const REFUSING_MS = 500;
/** The share of an exceeded bound that is kept, so that not every new connection causes a check of all others. */
const KEPT_SHARE = 7 / 8;

interface Peer {
  network: string;
  /** The owner that the client has proved to be; null before that. */
  owner: string | null;
  /** Requests without an answer so far. */
  calls: number;
  /** When the connection was first seen. */
  sinceMs: number;
  usedAtMs: number;
}

interface Connection {
  fd: number;
  peer: Peer;
}

/** How many unproved connections there are, by network. */
class Crowd {
  readonly #byNetwork = new Map<string, number>();
  size = 0;

  static of(connections: Connection[]): Crowd {
    const crowd = new Crowd();
    for (const { peer } of connections) crowd.enter(peer.network);
    return crowd;
  }

  sizeOf(network: string): number {
    return this.#byNetwork.get(network) ?? 0;
  }

  enter(network: string): void {
    this.size += 1;
    this.#byNetwork.set(network, this.sizeOf(network) + 1);
  }

  leave(network: string): void {
    const left = this.sizeOf(network) - 1;
    if (left < 0) return;
    this.size -= 1;
    this.#byNetwork.set(network, left);
  }
}

export class ServerConnections {
  readonly #port: number;
  readonly #bounds: ConnectionBounds;
  /** Read in advance: when no descriptor is left, it cannot be read. */
  readonly #openFiles = openFileLimit();
  #peers = new Map<string, Peer>();
  /** The unproved connections of the last check, and the connections that have sent a request since then. */
  #crowd = new Crowd();
  /** When all connections were checked last. */
  #lookedAtMs = -Infinity;
  /** How many were proved then, and have been proved since: an honest crowd that comes at once causes no check. */
  #proved = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param port where the server listens. No bound holds before `start`. */
  constructor(port: number, bounds: ConnectionBounds) {
    this.#port = port;
    this.#bounds = bounds;
  }

  /** Begins to check a server that listens. */
  start(): void {
    this.#lookIn(CALM_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Records that a request has come. @param from null for a client that has gone already. */
  begin(from: PeerAddress | null): Call {
    const peer = from === null ? newPeer("") : this.#peerAt(from);
    peer.calls += 1;
    peer.usedAtMs = performance.now();
    return {
      network: peer.network,
      isRefused: this.#isRefused(peer),
      prove: (owner = peer.network) => {
        if (peer.owner === null) {
          this.#proved += 1;
          this.#crowd.leave(peer.network);
        }
        peer.owner = owner;
      },
      end: () => {
        peer.calls -= 1;
        peer.usedAtMs = performance.now();
      },
    };
  }

  /** Ends connections beyond the bounds. @returns how many are left. */
  look(): number {
    const connections = this.#connections();
    const unproved = connections.filter(({ peer }) => peer.owner === null);
    this.#crowd = Crowd.of(unproved);
    this.#lookedAtMs = performance.now();
    this.#proved = connections.length - unproved.length;
    const gone = new Set(this.#impatient(unproved));
    const { all, unproved: mostUnproved, graceMs = GRACE_MS } = this.#bounds;
    const shed = (from: Connection[], bound: number, latestMs: number) => {
      const left = from.filter((connection) => !gone.has(connection));
      if (left.length <= bound) return;
      const candidates = inFairOrder(left).filter(({ peer }) => peer.sinceMs <= latestMs);
      for (const connection of candidates.slice(0, left.length - Math.floor(bound * KEPT_SHARE)))
        gone.add(connection);
    };
    shed(unproved, mostUnproved, this.#lookedAtMs - graceMs);
    shed(connections, all, Infinity);
    for (const { fd } of gone) hangUp(fd);
    return connections.length - gone.size;
  }

  /** All open connections; forgets all others. */
  #connections(): Connection[] {
    const peers = new Map<string, Peer>();
    const connections = acceptedSockets(this.#port, this.#openFiles).map((socket) => {
      const peer = this.#peerAt(socket);
      peers.set(keyOf(socket), peer);
      return { fd: socket.fd, peer };
    });
    this.#peers = peers;
    return connections;
  }

  #peerAt(from: PeerAddress): Peer {
    const key = keyOf(from);
    const known = this.#peers.get(key);
    if (known !== undefined) return known;
    const peer = newPeer(networkOf(from.address));
    this.#peers.set(key, peer);
    this.#crowd.enter(peer.network);
    return peer;
  }

  #isRefused({ owner, network }: Peer): boolean {
    if (owner !== null || !this.#isCrowd(network)) return false;
    // Connections that have ended since the last check still count.
    if (performance.now() - this.#lookedAtMs > REFUSING_MS) this.look();
    return this.#isCrowd(network);
  }

  #isCrowd(network: string): boolean {
    const most = this.#bounds.unproved;
    return this.#crowd.size > most * REFUSING_SHARE && this.#crowd.sizeOf(network) > most * SHARE_OF_NETWORK;
  }

  #impatient(unproved: Connection[]): Connection[] {
    if (unproved.length <= this.#bounds.unproved * CROWDED_SHARE) return [];
    const latestMs = performance.now() - PATIENCE_MS;
    return unproved.filter(({ peer }) => peer.usedAtMs < latestMs);
  }

  /** Whether so few descriptors are open that few connections can be unproved, which saves a check of each. */
  #isCalm(nowMs: number): boolean {
    if (nowMs - this.#lookedAtMs > LONGEST_UNSEEN_MS) return false;
    const open = openDescriptors();
    return open !== null && open - this.#proved <= this.#bounds.unproved * CROWDED_SHARE;
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => {
      const beganAtMs = performance.now();
      if (this.#isCalm(beganAtMs)) return this.#lookIn(CALM_MS);
      const isCrowded = this.look() - this.#proved > this.#bounds.unproved * CROWDED_SHARE;
      const pauseMs = Math.min(LONGEST_PAUSE_MS, (performance.now() - beganAtMs) / LOOKING_SHARE);
      this.#lookIn(Math.max(isCrowded ? CROWDED_MS : CALM_MS, pauseMs));
    }, ms);
    this.#timer.unref();
  }
}

function newPeer(network: string): Peer {
  const nowMs = performance.now();
  return { network, owner: null, calls: 0, sinceMs: nowMs, usedAtMs: nowMs };
}

function keyOf({ address, port }: PeerAddress): string {
  return `${address} ${port}`;
}

/**
 * Sorts connections by the order in which they are closed: unproved connections first, then those of the client with
 * the most, until no client has more than another. So a flood ends its own connections, and behind a proxy, where all
 * clients have one network, no client is preferred.
 */
function inFairOrder(connections: Connection[]): Connection[] {
  const groups = Map.groupBy(connections, ({ peer }) => peer.owner ?? ` ${peer.network}`);
  /** How many connections of the same client are worth more. */
  const excess = new Map<Connection, number>();
  for (const group of groups.values()) {
    // An owner that floods from one network keeps its connections from others.
    for (const ofNetwork of Map.groupBy(group, ({ peer }) => peer.network).values()) {
      for (const [index, connection] of ofNetwork.sort(byWorth).entries()) excess.set(connection, index);
    }
    const byExcess = (one: Connection, other: Connection) =>
      (excess.get(one) ?? 0) - (excess.get(other) ?? 0) || byWorth(one, other);
    for (const [index, connection] of group.toSorted(byExcess).entries()) excess.set(connection, index);
  }
  const rank = (connection: Connection) => (connection.peer.owner === null ? 0 : 1);
  return connections.sort(
    (one, other) =>
      rank(one) - rank(other) || (excess.get(other) ?? 0) - (excess.get(one) ?? 0) || byWorth(other, one),
  );
}

/** A connection with a request under way is worth most, then the connection that was used last. */
function byWorth({ peer: one }: Connection, { peer: other }: Connection): number {
  return Number(other.calls > 0) - Number(one.calls > 0) || other.usedAtMs - one.usedAtMs;
}
