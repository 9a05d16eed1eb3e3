// The gateway in front of an engine, in this process, with the test as the host.
import type { Socket } from "bun";
import { TooManyClients, type ProtocolHandler } from "../../../src/gateway/backend.ts";
import { InstanceBackend } from "../../../src/gateway/instance/instance-backend.ts";
import type { GatewayMessage, Route, RouteState } from "../../../src/contracts/gateway-link.ts";
import type { WakeReason } from "../../../src/contracts/sleep.ts";
import type { InstanceUser } from "../../../src/contracts/users.ts";
import { ClientSocket, type TlsPolicy } from "../../../src/gateway/sockets/client-socket.ts";
import { HeldSocket } from "../../../src/lib/held-socket.ts";
import { Listener } from "../../../src/gateway/sockets/listener.ts";
import type { SocketOwner } from "../../../src/gateway/sockets/handlers.ts";
import { SocketPool } from "../../../src/gateway/sockets/socket-pool.ts";
import { RuntimeTimers } from "../../../src/gateway/sockets/timers.ts";
import { until } from "../pilvi/pilvi.ts";
import { freePort } from "../pilvi/ports.ts";

/** A busy machine may take longer to read the users than the gateway waits for them by default. */
const USERS_TIMEOUT_MS = 60_000;

/** A client's socket that records its deadlines. */
export class WatchedSocket extends ClientSocket {
  readonly deadlines: (number | null)[] = [];

  override setDeadline(ms: number | null): void {
    this.deadlines.push(ms);
    super.setDeadline(ms);
  }
}

/** The parts of a route that differ between engines; the rest is the same for all. */
export type OwnEntry = Pick<Route, "id" | "protocol" | "socket" | "engine" | "state"> & {
  users?: InstanceUser[];
};

export abstract class HandlerGateway {
  readonly port = freePort();
  /** Exceptions of protocol handlers, which must not throw. */
  readonly faults: unknown[] = [];
  /** All wakes that were requested. */
  readonly wakes: WakeReason[] = [];
  /** Clients that are served, in the order of their arrival. */
  readonly clients = new Set<WatchedSocket>();
  policy: TlsPolicy;
  /** Whether no client may log in any more. */
  isFull = false;
  protected readonly backend: InstanceBackend;
  readonly #handler: ProtocolHandler;
  readonly #pool: SocketPool;
  readonly #listener: Listener;
  /** Clients whose peers have not closed their connections yet. */
  readonly #open = new Set<WatchedSocket>();
  readonly #received = new Map<GatewayMessage["type"], number>();
  /** The latest question of the gateway for the users. */
  #question = 0;

  constructor(handler: ProtocolHandler, entry: OwnEntry, policy: Partial<TlsPolicy> = {}) {
    this.#handler = handler;
    const onFault = (error: unknown) => this.faults.push(error);
    this.#pool = new SocketPool(new RuntimeTimers(onFault), onFault);
    this.policy = { certificates: null, mustStartTls: false, ...policy };
    const where = { address: "127.0.0.1", port: this.port };
    this.backend = new InstanceBackend(
      this.#pool,
      {
        ...where,
        lastError: null,
        users: [],
        mockNonce: null,
        maxConnections: 100,
        sleepAfterSeconds: null,
        latestStart: null,
        ...entry,
      },
      (message) => {
        if (message.type === "users") this.#question = message.question;
        this.#received.set(message.type, this.count(message.type) + 1);
        this.receive(message);
      },
      { usersTimeoutMs: USERS_TIMEOUT_MS },
    );
    this.#listener = new Listener(this.#pool, HeldSocket.bind(where).fd, (socket, address) =>
      this.#accept(socket, address),
    );
  }

  /** How many sessions are connected to the engine. */
  get sessions(): number {
    return this.backend.sessions;
  }

  get entry(): Route {
    return this.backend.entry;
  }

  /** The IP addresses of the clients of these sessions, by the engine's numbers. */
  addressesOf(sessions: number[]): (string | null)[] {
    return this.backend.sessionClients.addressesOf(sessions);
  }

  /** How often the gateway has sent this message. */
  count(type: GatewayMessage["type"]): number {
    return this.#received.get(type) ?? 0;
  }

  /** Resolves when every message that had arrived before is processed. */
  async turned(): Promise<void> {
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Sends the gateway a change, which answers its latest question. */
  update(change: Partial<Route>): void {
    this.backend.update({ ...this.backend.entry, ...change }, this.#question);
  }

  become(state: RouteState, lastError: string | null = null): void {
    this.update({ state, lastError });
  }

  /** Lets work under way end and holds new clients, as the host does first. */
  async drain(withinMs = 10_000): Promise<"drained" | "busy"> {
    const [drained, busy] = [this.count("drained"), this.count("busy")];
    this.become("draining");
    this.backend.drain(withinMs);
    await until("the drain is over", () => this.count("drained") > drained || this.count("busy") > busy);
    return this.count("drained") > drained ? "drained" : "busy";
  }

  /** Disconnects the clients from the engine in one of two ways, and waits until that is done. */
  protected async disconnectBy(way: "disconnectIfIdle" | "disconnect"): Promise<void> {
    const before = this.count("detached");
    this.backend[way]();
    await until("the clients are parted from it", () => this.count("detached") > before);
  }

  /** Resolves when every client has closed its side. */
  protected async untilAllGone(): Promise<void> {
    await until("the clients know that they are parted from it", () => this.#open.size === 0);
  }

  async close(): Promise<void> {
    this.#listener.close();
    this.backend.close();
    this.backend.disconnect();
    for (const client of this.clients) client.close();
    await until("no client is served", () => this.clients.size === 0);
  }

  /** Answers as the host does. */
  protected abstract receive(message: GatewayMessage): void;

  #accept(socket: Socket<SocketOwner>, address: string): void {
    const client = new WatchedSocket(this.#pool, address, this.policy);
    client.adopt(socket);
    client.onIdentified = () => {
      if (this.isFull) throw new TooManyClients();
    };
    this.clients.add(client);
    this.#open.add(client);
    client.onPeerEnd(() => this.#open.delete(client));
    this.#handler(client, this.backend)
      .catch((error: unknown) => this.faults.push(error))
      .finally(() => this.clients.delete(client));
  }
}
