// Bounds the connections of a server of Bun's, so that no flood takes all descriptors of its process: beyond a number of them those
// go first that have proved nothing, then those that are silent longest.
import { acceptedSockets, hangUp } from "./accepted-sockets.ts";
import { networkOf } from "./network.ts";

/** How many connections there may be. */
export interface ConnectionBounds {
  all: number;
  /** Of them those that have proved nothing. */
  unproved: number;
}

/** Where a client is, as `Server.requestIP` tells. */
export interface PeerAddress {
  address: string;
  port: number;
}

/** A request under way. */
export interface Call {
  /** Its client is known from now on. */
  prove(): void;
  /** It is answered. */
  end(): void;
}

/** How often is looked when few are there, and when many are. */
const CALM_MS = 250;
const CROWDED_MS = 50;
/** How much of its time a process looks at most. */
const LOOKING_SHARE = 1 / 20;
/** From this share of a bound on, whoever has proved nothing has less patience to expect. */
const CROWDED_SHARE = 1 / 2;
const PATIENCE_MS = 5_000;
/** What is left of a bound when it was exceeded, so that not every connection has all the others looked at. */
const KEPT_SHARE = 7 / 8;
/** An address that has more than this of all goes before the others. */
const DOMINANT_SHARE = 1 / 2;

interface Peer {
  network: string;
  isProved: boolean;
  /** Requests that are not answered yet. */
  calls: number;
  usedAtMs: number;
}

interface Connection {
  fd: number;
  peer: Peer;
}

export class ServerConnections {
  readonly #port: number;
  readonly #bounds: ConnectionBounds;
  #peers = new Map<string, Peer>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param port where the server listens. Nothing is bounded before `start`. */
  constructor(port: number, bounds: ConnectionBounds) {
    this.#port = port;
    this.#bounds = bounds;
  }

  /** Begins to look. */
  start(): void {
    this.#lookIn(CALM_MS);
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
      prove: () => {
        peer.isProved = true;
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
    const unproved = connections.filter(({ peer }) => !peer.isProved);
    const gone = new Set(this.#impatient(unproved));
    const dominant = dominantOf(connections);
    const shed = (from: Connection[], bound: number) => {
      const left = from.filter((connection) => !gone.has(connection));
      if (left.length <= bound) return;
      const order = left.sort(
        (one, other) => rank(one, dominant) - rank(other, dominant) || since(one, other),
      );
      for (const connection of order.slice(0, left.length - Math.floor(bound * KEPT_SHARE)))
        gone.add(connection);
    };
    shed(unproved, this.#bounds.unproved);
    shed(connections, this.#bounds.all);
    for (const { fd } of gone) hangUp(fd);
    return connections.length - gone.size;
  }

  /** All that are open, and forgets the others. */
  #connections(): Connection[] {
    const peers = new Map<string, Peer>();
    const connections = acceptedSockets(this.#port).map((socket) => {
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

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => {
      const beganAtMs = performance.now();
      const isCrowded = this.look() > this.#bounds.unproved * CROWDED_SHARE;
      const tookMs = performance.now() - beganAtMs;
      this.#lookIn(Math.max(isCrowded ? CROWDED_MS : CALM_MS, tookMs / LOOKING_SHARE));
    }, ms);
    this.#timer.unref();
  }
}

function newPeer(network: string): Peer {
  return { network, isProved: false, calls: 0, usedAtMs: performance.now() };
}

function keyOf({ address, port }: PeerAddress): string {
  return `${address} ${port}`;
}

/** Behind a proxy all have one address, and none goes before the others. */
function dominantOf(connections: Connection[]): string | null {
  const counts = new Map<string, number>();
  for (const { peer } of connections) counts.set(peer.network, (counts.get(peer.network) ?? 0) + 1);
  for (const [network, count] of counts) if (count > connections.length * DOMINANT_SHARE) return network;
  return null;
}

/** Who goes first has the lowest. */
function rank({ peer }: Connection, dominant: string | null): number {
  const worth = peer.isProved ? (peer.calls > 0 ? 2 : 1) : 0;
  return worth * 2 + (peer.network === dominant ? 0 : 1);
}

function since(one: Connection, other: Connection): number {
  return one.peer.usedAtMs - other.peer.usedAtMs;
}
