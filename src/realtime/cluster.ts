// All applications of one cluster: which clients are let in, and what a new configuration changes.
import { Application, type SharedParts } from "./application.ts";
import { ClientBudget } from "./client-budget.ts";
import type { ClusterConfig } from "../contracts/realtime.ts";
import type { WebSocketApplication } from "../contracts/websocket-application.ts";
import { Connection, closeWith } from "./connection.ts";
import { ClusterCounters, inMemory, type Counters } from "./counters.ts";
import { spreadOut } from "./spread-out.ts";
import type { ApplicationEvents } from "./events.ts";
import { readHandshake } from "./protocol/handshake.ts";
import {
  APPLICATION_UNKNOWN,
  ORIGIN_REFUSED,
  OVER_QUOTA,
  RECONNECT,
  type CloseReason,
} from "./protocol/close-codes.ts";
import { connectionEstablished } from "./protocol/frames.ts";
import { CLUSTER_CHANNELS, CLUSTER_CHANNELS_PER_CONNECTION } from "./protocol/limits.ts";
import { newSocketId } from "./protocol/socket-id.ts";
import { ReportedMisses } from "./reported-misses.ts";
import type { Publish, Transport } from "./transport.ts";

/** The request of a client that connects. */
export interface Handshake {
  /** The path of the URL. */
  path: string;
  /** The query of the URL, without the question mark. */
  query: string;
  origin: string | null;
}

export class Cluster {
  /** Renewed with each check of the buffers. */
  readonly clientBudget = new ClientBudget();
  readonly #shared: SharedParts = {
    clientBudget: this.clientBudget,
    clusterChannels: { count: 0, max: 0 },
    reportedMisses: new ReportedMisses(),
  };
  readonly #publish: Publish;
  readonly #eventsOf: (application: WebSocketApplication) => ApplicationEvents;
  readonly #byId = new Map<string, Application>();
  #byKey = new Map<string, Application>();
  #byAppId = new Map<string, Application>();
  readonly #counters: ClusterCounters;
  #maxConnections = 0;
  #isClosing = false;

  /** @param eventsOf makes the listener of an application's events. */
  constructor(
    publish: Publish,
    eventsOf: (application: WebSocketApplication) => ApplicationEvents,
    counters = new ClusterCounters("cluster", inMemory),
  ) {
    this.#publish = publish;
    this.#eventsOf = eventsOf;
    this.#counters = counters;
  }

  applications(): Iterable<Application> {
    return this.#byId.values();
  }

  applicationById(id: string): Application | undefined {
    return this.#byId.get(id);
  }

  applicationByAppId(appId: string): Application | undefined {
    return this.#byAppId.get(appId);
  }

  /** Connections of all applications, subscribed or not. */
  get connectionCount(): number {
    let count = 0;
    for (const { connections } of this.#byId.values()) count += connections.size;
    return count;
  }

  /** The sums of all applications, removed ones included. */
  get counters(): Counters {
    return this.#counters.whole();
  }

  /** Replaces the former configuration; connections that the change does not concern are left alone. */
  configure({ maxConnections, applications }: ClusterConfig): void {
    const wanted = new Set(applications.map(({ id }) => id));
    for (const [id, application] of this.#byId) {
      if (!wanted.has(id)) this.#remove(application);
    }
    this.#counters.keepOnly(wanted);
    const all = applications.map((config) => this.#ensure(config));
    this.#byKey = new Map(all.map((application) => [application.config.key, application]));
    this.#byAppId = new Map(all.map((application) => [application.config.appId, application]));
    this.#maxConnections = maxConnections;
    this.#shared.clusterChannels.max = CLUSTER_CHANNELS + maxConnections * CLUSTER_CHANNELS_PER_CONNECTION;
    this.#closeSurplus();
  }

  /**
   * Lets a client in, or sends it the reason for a refusal and closes.
   * @returns the connection, or null when the client was refused.
   */
  accept(transport: Transport, { path, query, origin }: Handshake): Connection | null {
    const handshake = readHandshake(path, query);
    const { protocol } = handshake;
    const turnAway = (reason: CloseReason) => {
      closeWith(transport, reason, protocol);
      return null;
    };
    if ("refusal" in handshake) return turnAway(handshake.refusal);
    const application = this.#byKey.get(handshake.key);
    if (this.#isClosing) return turnAway(RECONNECT);
    if (application === undefined) return turnAway(APPLICATION_UNKNOWN);
    const { config, connections } = application;
    const refusal = this.#refusalOf(application, origin);
    if (refusal !== null) {
      const { code, message } = refusal;
      application.debug?.refused({ socketId: null, channel: null, code }, message);
      return turnAway(refusal);
    }
    const connection = new Connection(application, transport, { socketId: newSocketId(), origin, protocol });
    connections.set(connection.socketId, connection);
    application.debug?.connected(connection.socketId, origin);
    connection.send(connectionEstablished(connection.socketId, config.activityTimeoutSeconds));
    return connection;
  }

  /** Lets no more clients in and closes all connections, spread over some seconds so that not all come back at once. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const all: Connection[] = [];
    for (const { connections } of this.#byId.values()) all.push(...connections.values());
    await spreadOut(all, (connection) => connection.closeWith(RECONNECT));
  }

  #ensure(config: WebSocketApplication): Application {
    const known = this.#byId.get(config.id);
    if (known !== undefined) {
      known.configure(config);
      return known;
    }
    const application = new Application(config, {
      publish: this.#publish,
      events: this.#eventsOf(config),
      counters: this.#counters.of(config.id),
      ...this.#shared,
    });
    this.#byId.set(config.id, application);
    return application;
  }

  #remove(application: Application): void {
    this.#byId.delete(application.config.id);
    for (const connection of application.connections.values()) connection.closeWith(APPLICATION_UNKNOWN);
  }

  /** A lower limit holds for open connections as well; the newest are closed first. */
  #closeSurplus(): void {
    const surplus: Connection[] = [];
    const rest: Connection[] = [];
    for (const { config, connections } of this.#byId.values()) {
      const all = [...connections.values()];
      rest.push(...all.slice(0, config.maxConnections));
      surplus.push(...all.slice(config.maxConnections));
    }
    rest.sort((a, b) => a.openedAt - b.openedAt);
    surplus.push(...rest.slice(this.#maxConnections));
    void spreadOut(surplus, (connection) => {
      // Other clients may have left by now, or the limit may have been raised again.
      if (!this.#hasRoomFor(connection.application, 0)) connection.closeWith(RECONNECT);
    });
  }

  /** The reason not to let a client of an application in, or null. */
  #refusalOf(application: Application, origin: string | null): CloseReason | null {
    if (!application.allowsOrigin(origin)) return ORIGIN_REFUSED;
    return this.#hasRoomFor(application, 1) ? null : OVER_QUOTA;
  }

  #hasRoomFor({ config, connections }: Application, more: number): boolean {
    return (
      connections.size + more <= config.maxConnections && this.connectionCount + more <= this.#maxConnections
    );
  }
}
