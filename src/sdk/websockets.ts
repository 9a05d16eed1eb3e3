// The operations on WebSocket clusters and on the applications in them.
import type {
  ApplicationChange,
  ApplicationResource,
  NewApplicationBody,
  NewWebSocketClusterBody,
  SecretRotationBody,
  WebsocketTestEventBody,
  WebSocketClusterChange,
  WebSocketClusterResource,
  WebSocketClusterStatus,
  WebsocketDebugEvent,
  WebsocketApplicationMetrics,
  WebsocketMetrics,
  WebsocketPublishedEvent,
} from "../resources/websockets/schema.ts";
import type { LogEntry, LogsDocument } from "../resources/shared/logs-schema.ts";
import { Collection } from "./collection.ts";
import type { Connection } from "./connection.ts";
import type { PageDocument, SingleDocument } from "./documents.ts";
import { followMessages } from "./follow.ts";
import { newIdempotencyKey } from "./idempotency-key.ts";
import { followLogs, readLogs, type LogPageOptions } from "./logs.ts";
import { type MetricPeriod, type MetricStep, readMetrics } from "./metrics.ts";

/** The description of a new cluster. */
export type NewWebSocketCluster = NewWebSocketClusterBody;
/** A cluster, with its applications where `include: ["applications"]` asks for them. */
export type WebSocketClusterDocument = SingleDocument<WebSocketClusterResource, ApplicationResource>;
export type WebSocketClusterPage = PageDocument<WebSocketClusterResource>;
/** The description of a new application; everything but the name may be left out. */
export type NewWebsocketApplication = NewApplicationBody;
/** The members of an application to change; the rest stays as it is, and lists are replaced as a whole. */
export type WebsocketApplicationChange = ApplicationChange;
/** An application, with its cluster where `include: ["server"]` asks for it. */
export type WebsocketApplicationDocument = SingleDocument<ApplicationResource, WebSocketClusterResource>;
export type WebsocketApplicationPage = PageDocument<ApplicationResource>;
/** How long earlier secrets stay valid after a rotation. */
export type WebsocketSecretRotation = SecretRotationBody;
/** An event to try an application with. */
export type WebsocketTestEvent = WebsocketTestEventBody;

/** The types of the cluster collection. */
interface ServerKind {
  body: NewWebSocketCluster;
  resource: WebSocketClusterResource;
  included: ApplicationResource;
  status: WebSocketClusterStatus;
  filter: "name" | "type" | "status" | "region";
}

/** The types of the application collection; only the cluster of an application has a status. */
interface ApplicationKind {
  body: NewWebsocketApplication;
  resource: ApplicationResource;
  included: WebSocketClusterResource;
  status: never;
  filter: never;
}

/** Shows only clusters whose attributes have these values. */
export type WebSocketClusterFilter = Partial<Record<ServerKind["filter"], string>>;

/** The WebSocket clusters of the token's organization. */
export class Websockets extends Collection<ServerKind> {
  constructor(connection: Connection) {
    super(connection, "/websocket-servers");
  }

  /** The applications in the cluster with this id. */
  applications(id: string): WebsocketApplications {
    return new WebsocketApplications(this.connection, `${this.pathOf(id)}/applications`);
  }

  /** Changes a cluster; no client is disconnected, unless there are too many. */
  async update(id: string, change: WebSocketClusterChange): Promise<WebSocketClusterDocument> {
    return await this.change<WebSocketClusterDocument>(id, change);
  }

  /** Reads the metrics, of the last six hours by default, whether the cluster runs or not. */
  async metrics(id: string, period?: MetricPeriod, step?: MetricStep): Promise<WebsocketMetrics> {
    return await readMetrics<WebsocketMetrics>(this.connection, this.pathOf(id), period, step);
  }

  /** Reads a page of the log of its engine, from the oldest line that is kept on; nothing is woken. */
  async logs(id: string, options: LogPageOptions = {}): Promise<LogsDocument> {
    return await readLogs(this.connection, this.pathOf(id), options);
  }

  /** Yields each line of the log when it is written, from now on by default, until the signal is aborted. */
  followLogs(id: string, options: Parameters<typeof followLogs>[2] = {}): AsyncGenerator<LogEntry, void> {
    return followLogs(this.connection, this.pathOf(id), options);
  }
}

/** The applications in a cluster. A change is in force when the cluster is `available` again. */
export class WebsocketApplications extends Collection<ApplicationKind> {
  /** Changes an application, for open connections as well. */
  async update(id: string, change: WebsocketApplicationChange): Promise<WebsocketApplicationDocument> {
    return await this.change<WebsocketApplicationDocument>(id, change);
  }

  /**
   * Gives an application a new secret.
   * @param options.idempotencyKey makes repetitions over several processes safe; by default each call has its own.
   */
  async rotateSecret(
    id: string,
    rotation: WebsocketSecretRotation = {},
    options: { idempotencyKey?: string } = {},
  ): Promise<WebsocketApplicationDocument> {
    const { idempotencyKey = newIdempotencyKey() } = options;
    return await this.connection.send<WebsocketApplicationDocument>({
      method: "POST",
      path: `${this.pathOf(id)}/rotate-secret`,
      body: rotation,
      headers: { "Idempotency-Key": idempotencyKey },
    });
  }

  /** Reads the metrics, of the last six hours by default, whether the cluster runs or not. */
  async metrics(id: string, period?: MetricPeriod, step?: MetricStep): Promise<WebsocketApplicationMetrics> {
    return await readMetrics<WebsocketApplicationMetrics>(this.connection, this.pathOf(id), period, step);
  }

  /**
   * Yields what happens in an application from now on, over lost connections, until the signal is aborted. A message of
   * the type `state` comes first, and again whenever reports end or go on.
   * @throws PilviError when Pilvi refuses, such as a revoked token; either error of the client when it is away from the
   * beginning.
   */
  async *debug(
    id: string,
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<WebsocketDebugEvent, void> {
    const path = `${this.pathOf(id)}/debug`;
    const messages = followMessages(this.connection, { path, query: followQuery, signal });
    for await (const { data } of messages) yield JSON.parse(data) as WebsocketDebugEvent;
  }

  /** Publishes an event once, as the application's own server would. */
  async publish(id: string, event: WebsocketTestEvent): Promise<WebsocketPublishedEvent["data"]> {
    const { data } = await this.connection.send<WebsocketPublishedEvent>({
      method: "POST",
      path: `${this.pathOf(id)}/debug/events`,
      body: event,
      isOnce: true,
    });
    return data;
  }

  /** The path of an application does not depend on its cluster. */
  protected override pathOf(id: string): string {
    return `/websocket-applications/${encodeURIComponent(id)}`;
  }
}

function followQuery(): URLSearchParams {
  return new URLSearchParams({ follow: "true" });
}
