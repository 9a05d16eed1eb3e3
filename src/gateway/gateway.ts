// The front door of one machine: an address for each instance that the host tells of, and a front for each client that comes.
import { postgresFront } from "./postgres/index.ts";
import { mysqlFront } from "./mysql/index.ts";
import { redisFront } from "./redis/index.ts";
import { TooManyClients, type Front } from "./backend.ts";
import { ConnectionLimits } from "./connection-limits.ts";
import { FAREWELLS } from "./farewells.ts";
import { InstanceBackend } from "./instance-backend.ts";
import type { Entry, GatewayMessage, HostMessage, Protocol } from "./link.ts";
import type { Log } from "../lib/line-log.ts";
import { messageOf } from "../lib/errors.ts";
import { openFileLimit } from "../lib/open-files.ts";
import { ClientSocket, type TlsPolicy } from "./reactor/client-socket.ts";
import { HostLink } from "./reactor/host-link.ts";
import { Listener } from "./reactor/listener.ts";
import type { Reactor } from "./reactor/reactor.ts";
import type { Timer } from "./reactor/timers.ts";
import { isLoopbackPeer, outOfReach } from "./reach.ts";
import { Tidying } from "./tidying.ts";

const FRONTS: Record<Protocol, Front> = { postgres: postgresFront, mysql: mysqlFront, redis: redisFront };

/** How soon an address is tried again that somebody else has. */
const LISTEN_RETRY_MS = 500;

/** What the gateway was told at its start. */
export interface GatewaySettings {
  /** The host's unix socket for gateways. */
  linkSocket: string;
  /** Begins TLS as the server on a descriptor; null where there is no TLS. */
  session: TlsPolicy["session"];
  /** Whether clients of other machines may speak in clear. */
  isInsecureAllowed: boolean;
}

interface Door {
  backend: InstanceBackend;
  listener: Listener | null;
  retry: Timer | null;
  /** Whether the host waits until it is listened at. */
  isAwaited: boolean;
  /** What the host asked of it last. */
  question: number | undefined;
  clients: Set<ClientSocket>;
}

export class Gateway {
  readonly #reactor: Reactor;
  readonly #settings: GatewaySettings;
  readonly #log: Log;
  #link: HostLink | null = null;
  readonly #doors = new Map<string, Door>();
  readonly #limits = new ConnectionLimits<ClientSocket>(openFileLimit(), (client, id) =>
    this.#dismiss(client, id),
  );
  readonly #tidying: Tidying;
  readonly #ready: () => void;

  /** @param ready called each time the host has told of all instances. */
  constructor(reactor: Reactor, settings: GatewaySettings, log: Log, ready: () => void) {
    this.#reactor = reactor;
    this.#tidying = new Tidying(reactor.timers);
    this.#settings = settings;
    this.#log = log;
    this.#ready = ready;
    reactor.relief = {
      room: () => this.#limits.room(this.#doors.size),
      relieve: (sockets) => this.#limits.relieve(sockets, this.#doors.size),
    };
  }

  /** Begins to listen to the host, and to whoever comes to the addresses that it tells. */
  start(): void {
    const { linkSocket } = this.#settings;
    this.#link = new HostLink(this.#reactor, linkSocket, {
      received: (message) => this.#hear(message),
      skipped: () => this.#log.error({}, "a line of the host's is too long and was left out"),
    });
  }

  #hear(message: HostMessage): void {
    if (message.type === "entries") return this.#releaseOthers(new Set(message.ids));
    if (message.type === "synced") return this.#synced();
    if (message.type === "entry") return this.#take(message.entry, message.isAnswer === true);
    if (message.type === "gone") {
      this.#release(message.id);
      return this.#tell({ type: "released", id: message.id });
    }
    const door = this.#doors.get(message.id);
    if (door === undefined) return;
    if (message.type === "attend") return this.#attend(door);
    door.question = message.question;
    if (message.type === "drain") return door.backend.drain(message.withinMs, message.isYielding);
    door.backend.detach();
  }

  #tell(message: GatewayMessage): void {
    this.#link?.send(message);
  }

  #tellOf(message: GatewayMessage): void {
    const isAnswer = message.type === "drained" || message.type === "busy" || message.type === "detached";
    const question = this.#doors.get(message.id)?.question;
    this.#tell(isAnswer && question !== undefined ? { ...message, question } : message);
  }

  #releaseOthers(present: Set<string>): void {
    for (const id of this.#doors.keys()) if (!present.has(id)) this.#release(id);
  }

  #synced(): void {
    for (const { backend } of this.#doors.values()) backend.remind();
    this.#ready();
  }

  #take(entry: Entry, isAnswer: boolean): void {
    const door = this.#doors.get(entry.id);
    if (door === undefined) return this.#open(entry);
    const { address, port } = door.backend.entry;
    door.backend.update(entry, isAnswer);
    if (address === entry.address && port === entry.port) return;
    this.#listen(door);
    for (const client of outOfReach(door.clients, entry.address)) client.end();
  }

  #open(entry: Entry): void {
    const backend = new InstanceBackend(this.#reactor, entry, (message) => this.#tellOf(message));
    const door: Door = {
      backend,
      listener: null,
      retry: null,
      isAwaited: false,
      question: undefined,
      clients: new Set(),
    };
    this.#doors.set(entry.id, door);
    this.#listen(door);
  }

  /** Tells the host that the address is listened at, now or as soon as it is. */
  #attend(door: Door): void {
    door.isAwaited = door.listener === null;
    if (!door.isAwaited) this.#tell({ type: "attending", id: door.backend.entry.id });
  }

  #listen(door: Door): void {
    const { id, address, port } = door.backend.entry;
    door.listener?.close();
    door.retry?.cancel();
    door.listener = null;
    try {
      door.listener = new Listener(this.#reactor, { address, port }, (fd, peer) =>
        this.#accept(door, fd, peer),
      );
      if (door.isAwaited) this.#attend(door);
    } catch (error) {
      this.#log.error({ instance: id, address, port, error: messageOf(error) }, "an address cannot be had");
      door.retry = this.#reactor.timers.after(LISTEN_RETRY_MS, () => this.#listen(door));
    }
  }

  #release(id: string): void {
    const door = this.#doors.get(id);
    if (door === undefined) return;
    this.#doors.delete(id);
    door.listener?.close();
    door.retry?.cancel();
    door.backend.close();
    for (const client of door.clients) client.end();
  }

  #accept(door: Door, fd: number, address: string): void {
    const client = new ClientSocket(this.#reactor, fd, address, {
      session: this.#settings.session,
      mustStartTls: !this.#settings.isInsecureAllowed && !isLoopbackPeer(address),
    });
    door.clients.add(client);
    const { id } = door.backend.entry;
    this.#limits.arrived(id, client);
    client.onIdentified = () => {
      if (!this.#limits.identified(id, client, door.backend.entry.maxConnections)) throw new TooManyClients();
    };
    void this.#serve(door, client);
  }

  /** Ends the connection of a customer for whom there is no room any more. */
  #dismiss(client: ClientSocket, id: string): void {
    const door = this.#doors.get(id);
    client.dismiss(door === undefined ? new Uint8Array() : FAREWELLS[door.backend.entry.protocol]);
  }

  async #serve(door: Door, client: ClientSocket): Promise<void> {
    const { entry } = door.backend;
    try {
      await FRONTS[entry.protocol](client, door.backend);
    } catch (error) {
      this.#log.error({ instance: entry.id, error }, "a client could not be served");
    } finally {
      client.end();
      door.backend.left(client);
      door.clients.delete(client);
      this.#limits.left(entry.id, client);
      this.#tidying.note();
    }
  }
}
