// Accepts clients at the routes of all instances behind the gateway, and serves each by its protocol handler.
import { postgresHandler } from "../postgres/index.ts";
import { mysqlHandler } from "../mysql/index.ts";
import { redisHandler } from "../redis/index.ts";
import { TooManyClients, type ProtocolHandler } from "../backend.ts";
import { ClientCounts } from "./client-counts.ts";
import { ConnectionLimits } from "./connection-limits.ts";
import { EarlySockets } from "./early-sockets.ts";
import { FAREWELLS } from "./farewells.ts";
import { InstanceBackend } from "../instance/instance-backend.ts";
import { MISMATCH_RETRY_MS } from "../../contracts/versions.ts";
import type { GatewayMessage, HostMessage, Protocol, Route } from "../../contracts/gateway-link.ts";
import type { Log } from "../../lib/line-log.ts";
import { AddressLink } from "../sockets/address-link.ts";
import { ClientSocket, type TlsPolicy } from "../sockets/client-socket.ts";
import { HostLink } from "../sockets/host-link.ts";
import type { Socket } from "bun";
import { Listener } from "../sockets/listener.ts";
import type { SocketPool } from "../sockets/socket-pool.ts";
import type { SocketOwner } from "../sockets/handlers.ts";
import { isLoopbackPeer, outOfReach } from "./reach.ts";

const HANDLERS: Record<Protocol, ProtocolHandler> = {
  postgres: postgresHandler,
  mysql: mysqlHandler,
  redis: redisHandler,
};

/** The settings of the gateway, fixed at its start. */
export interface GatewaySettings {
  /** The host's unix socket for gateways. */
  linkSocket: string;
  /** The host's unix socket through which it passes the sockets that listen for clients. */
  addressSocket: string;
  /** Null without TLS. */
  certificates: TlsPolicy["certificates"];
  /** Whether clients of other machines may connect without TLS. */
  isInsecureAllowed: boolean;
}

interface OpenRoute {
  backend: InstanceBackend;
  /** Null until the host has passed the socket; the host has none while another program uses the address. */
  listener: Listener | null;
  /** The number of the host's last question for this route. */
  question: number | undefined;
  clients: Set<ClientSocket>;
}

export class Gateway {
  readonly #pool: SocketPool;
  readonly #settings: GatewaySettings;
  readonly #log: Log;
  readonly #link: HostLink;
  readonly #addresses: AddressLink;
  readonly #early = new EarlySockets();
  readonly #routes = new Map<string, OpenRoute>();
  readonly #limits: ConnectionLimits<ClientSocket>;
  readonly #counts: ClientCounts;
  readonly #ready: () => void;
  /** The logged error of the latest host, when that host has another version. */
  #mismatch: string | null = null;

  /** @param ready called each time the host has sent all routes. */
  constructor(pool: SocketPool, settings: GatewaySettings, log: Log, ready: () => void) {
    this.#pool = pool;
    this.#limits = new ConnectionLimits(pool.openFiles, (client, id) => this.#dismiss(client, id));
    this.#counts = new ClientCounts(
      pool.timers,
      (id) => this.#limits.countOf(id),
      (message) => this.#send(message),
    );
    this.#settings = settings;
    this.#log = log;
    this.#ready = ready;
    pool.relief = {
      room: () => this.#limits.room(this.#routes.size),
      relieve: (open) => this.#limits.relieve(open, this.#routes.size),
    };
    this.#addresses = new AddressLink(pool.timers, settings.addressSocket, {
      greeted: () => (this.#mismatch = null),
      mismatched: (error) => {
        this.#mismatched(error.message);
        this.#link.restart(MISMATCH_RETRY_MS);
      },
      socketOf: (id) => this.#socketOf(id),
      handedOver: () => {
        this.#early.forgetFormer();
        this.#send({ type: "holding" });
      },
      received: (id, fd) => this.#listen(id, fd),
      ended: () => this.#link.restart(),
    });
    this.#link = new HostLink(pool, settings.linkSocket, {
      connected: () => this.#meet(),
      mismatched: (error) => this.#mismatched(error.message),
      received: (message) => this.#receive(message),
      skipped: () => log.error({}, "a line of the host's is too long and was left out"),
    });
  }

  /** Connects to the host, and accepts clients at the addresses of the host's routes. */
  start(): void {
    this.#link.start();
  }

  /** Logs a mismatch once, though each attempt repeats it. Connected clients are served meanwhile. */
  #mismatched(message: string): void {
    if (message === this.#mismatch) return;
    this.#mismatch = message;
    this.#log.error({ reason: message }, "the host cannot be understood");
  }

  /** A host has connected. It may replace a killed host, so it gets that host's sockets back. */
  #meet(): void {
    const held = this.#early.change();
    for (const id of this.#routes.keys()) held.push(id);
    if (!this.#addresses.connect(held)) this.#link.restart();
  }

  /** The socket of an instance for a host that has lost it; null without one. */
  #socketOf(id: string): number | null {
    const listener = this.#routes.get(id)?.listener ?? null;
    return listener === null || listener.isClosed ? this.#early.formerOf(id) : listener.fd;
  }

  #receive(message: HostMessage): void {
    // The host has sent the sockets of new instances before their routes.
    this.#addresses.look();
    switch (message.type) {
      case "entries":
        return this.#releaseOthers(new Set(message.ids));
      case "synced":
        return this.#synced();
      case "entry":
        return this.#take(message.entry, message.question);
      case "gone":
        this.#release(message.id);
        return this.#send({ type: "released", id: message.id });
      case "drain":
        return this.#asked(message)?.drain(message.withinMs, message.isYielding);
      case "detach":
        return this.#asked(message)?.disconnectIfIdle();
      case "addresses":
        return this.#answerAddresses(message);
      default:
        return unknownMessage(message);
    }
  }

  #answerAddresses({ id, sessions, question }: Extract<HostMessage, { type: "addresses" }>): void {
    const addresses = this.#routes.get(id)?.backend.sessionClients.addressesOf(sessions) ?? [];
    this.#send({ type: "addresses", id, question, addresses });
  }

  /** Finds the backend for a question, and keeps the question's number for the answer. */
  #asked({ id, question }: { id: string; question?: number }): InstanceBackend | undefined {
    const route = this.#routes.get(id);
    if (route !== undefined) route.question = question;
    return route?.backend;
  }

  #send(message: GatewayMessage): void {
    this.#link.send(message);
  }

  #sendFrom(message: GatewayMessage): void {
    const isAnswer = message.type === "drained" || message.type === "busy" || message.type === "detached";
    const question = isAnswer ? this.#routes.get(message.id)?.question : undefined;
    this.#send(isAnswer && question !== undefined ? { ...message, question } : message);
  }

  #releaseOthers(present: Set<string>): void {
    for (const id of this.#routes.keys()) if (!present.has(id)) this.#release(id);
  }

  #synced(): void {
    for (const { backend } of this.#routes.values()) backend.remind();
    this.#counts.forget(this.#routes.keys());
    this.#ready();
  }

  #take(entry: Route, question: number | undefined): void {
    const route = this.#routes.get(entry.id);
    if (route === undefined) return this.#open(entry);
    const { address, port } = route.backend.entry;
    route.backend.update(entry, question);
    if (address === entry.address && port === entry.port) return;
    for (const client of outOfReach(route.clients, entry.address)) client.end();
  }

  #open(entry: Route): void {
    const backend = new InstanceBackend(this.#pool, entry, (message) => this.#sendFrom(message));
    const route: OpenRoute = {
      backend,
      listener: null,
      question: undefined,
      clients: new Set(),
    };
    this.#routes.set(entry.id, route);
    const fd = this.#early.take(entry.id);
    if (fd !== null) this.#listen(entry.id, fd);
  }

  /** @param fd the socket that listens at the address of the instance, in place of the former socket; null for none. */
  #listen(id: string, fd: number | null): void {
    const route = this.#routes.get(id);
    this.#early.forget(id);
    route?.listener?.close();
    if (fd === null) return;
    if (route === undefined) return this.#early.keep(id, fd);
    route.listener = new Listener(this.#pool, fd, (socket, peer) => this.#accept(route, socket, peer));
  }

  #release(id: string): void {
    this.#early.forget(id);
    const route = this.#routes.get(id);
    if (route === undefined) return;
    this.#routes.delete(id);
    route.listener?.close();
    route.backend.close();
    for (const client of route.clients) client.end();
  }

  #accept(route: OpenRoute, socket: Socket<SocketOwner>, address: string): void {
    const client = new ClientSocket(this.#pool, address, {
      certificates: this.#settings.certificates,
      mustStartTls: !this.#settings.isInsecureAllowed && !isLoopbackPeer(address),
    });
    client.adopt(socket);
    route.clients.add(client);
    const { id } = route.backend.entry;
    this.#limits.arrived(id, client);
    client.onClosed = () => this.#limits.closed(client);
    client.onIdentified = () => {
      if (!this.#limits.identified(id, client, route.backend.entry.maxConnections))
        throw new TooManyClients();
      this.#counts.note(id);
    };
    void this.#serve(route, client);
  }

  /** Closes the connection of a customer when there is no room for it any more. */
  #dismiss(client: ClientSocket, id: string): void {
    const route = this.#routes.get(id);
    client.dismiss(route === undefined ? new Uint8Array() : FAREWELLS[route.backend.entry.protocol]);
  }

  async #serve(route: OpenRoute, client: ClientSocket): Promise<void> {
    const { entry } = route.backend;
    try {
      await HANDLERS[entry.protocol](client, route.backend);
    } catch (error) {
      this.#log.error({ instance: entry.id, error }, "a client could not be served");
    } finally {
      client.end();
      route.backend.left(client);
      route.clients.delete(client);
      this.#limits.left(entry.id, client);
      this.#counts.note(entry.id);
    }
  }
}

/** The contract has no other messages: a message type without a case does not compile. */
function unknownMessage(message: never): never {
  throw new Error(`The host sent an unknown message: ${JSON.stringify(message)}`);
}
