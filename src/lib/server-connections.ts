// Bounds the connections of a server of Bun's, so that no flood takes all descriptors of its process: beyond a number of them those
// go first that have proved nothing, of them and of the others those of whoever has most, and of one client those that are silent longest.
import { acceptedSockets, deepenQueue, hangUp, openDescriptors } from "./accepted-sockets.ts";
import { networkOf } from "./network.ts";
import { openFileLimit } from "./open-files.ts";

/** How many connections there may be. */
export interface ConnectionBounds {
  all: number;
  /** Of them those that have proved nothing. */
  unproved: number;
  /** For how long a connection has room beyond that bound, to say what it wants; half a second when left out. */
  graceMs?: number;
}

/** Where a client is, as `Server.requestIP` tells. */
export interface PeerAddress {
  address: string;
  port: number;
}

/** A request under way. */
export interface Call {
  /** Its client is known from now on. @param owner whom all its connections count for, in place of its network. */
  prove(owner?: string): void;
  /** It is answered. */
  end(): void;
}

/** How often is looked when few are there, and when many are. */
const CALM_MS = 100;
const CROWDED_MS = 50;
/** How long it may go by the number of descriptors alone. */
const LONGEST_UNSEEN_MS = 5_000;
/** Connections that wait to be accepted; the kernel has a limit of its own beside it. */
const QUEUE = 4_096;
/** How much of its time a process looks at most, and how long it does not look at most, or thousands would come meanwhile. */
const LOOKING_SHARE = 1 / 4;
const LONGEST_PAUSE_MS = 250;
/** From this share of a bound on, whoever has proved nothing has less patience to expect. */
const CROWDED_SHARE = 1 / 2;
const PATIENCE_MS = 5_000;
const GRACE_MS = 500;
/** What is left of a bound when it was exceeded, so that not every connection has all the others looked at. */
const KEPT_SHARE = 7 / 8;

interface Peer {
  network: string;
  /** Who it has proved to be; null while it has not. */
  owner: string | null;
  /** Requests that are not answered yet. */
  calls: number;
  /** When it was seen first. */
  sinceMs: number;
  usedAtMs: number;
}

interface Connection {
  fd: number;
  peer: Peer;
}

export class ServerConnections {
  readonly #port: number;
  readonly #bounds: ConnectionBounds;
  /** Read in good time: when none is left, it cannot be read. */
  readonly #openFiles = openFileLimit();
  #peers = new Map<string, Peer>();
  /** When all were looked at last, and how many of them had proved something. */
  #lookedAtMs = -Infinity;
  #proved = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param port where the server listens. Nothing is bounded before `start`. */
  constructor(port: number, bounds: ConnectionBounds) {
    this.#port = port;
    this.#bounds = bounds;
  }

  /** Begins to look at a server that listens. */
  start(): void {
    this.deepen();
    this.#lookIn(CALM_MS);
  }

  /** Takes another listener at the port in. */
  deepen(): void {
    deepenQueue(this.#port, QUEUE);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Notes that a request has come. @param from null for a client that has gone already. */
  begin(from: PeerAddress | null): Call {
    const peer = from === null ? newPeer("") : this.#peerAt(from);
    peer.calls += 1;
    peer.usedAtMs = performance.now();
    return {
      prove: (owner = peer.network) => {
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

  /** All that are open, and forgets the others. */
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
    return peer;
  }

  #impatient(unproved: Connection[]): Connection[] {
    if (unproved.length <= this.#bounds.unproved * CROWDED_SHARE) return [];
    const latestMs = performance.now() - PATIENCE_MS;
    return unproved.filter(({ peer }) => peer.usedAtMs < latestMs);
  }

  /** Whether so few descriptors are open that not many strangers can be among them, which saves looking at each. */
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
 * Those first that go first: all that have proved nothing, then of whoever has most, until nobody has more than the others. So a flood ends its own
 * connections, and behind a proxy, where all have one network, nobody is preferred.
 */
function inFairOrder(connections: Connection[]): Connection[] {
  const groups = Map.groupBy(connections, ({ peer }) => peer.owner ?? ` ${peer.network}`);
  /** How many of the same client are worth more. */
  const excess = new Map<Connection, number>();
  for (const group of groups.values()) {
    // An owner who floods from one place keeps what it has at others.
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

/** Requests under way are worth most, then what was used last. */
function byWorth({ peer: one }: Connection, { peer: other }: Connection): number {
  return Number(other.calls > 0) - Number(one.calls > 0) || other.usedAtMs - one.usedAtMs;
}
