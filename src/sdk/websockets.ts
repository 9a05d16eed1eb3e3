// The operations on WebSocket clusters and on the applications in them.
import type { z } from "zod";
import type {
  applicationChange,
  ApplicationResource,
  MetricPeriod,
  newApplication,
  newWebSocketCluster,
  secretRotation,
  webSocketClusterChange,
  WebSocketClusterResource,
  WebSocketClusterStatus,
  WebsocketMetrics,
} from "../resources/websockets/schema.ts";
import { Collection } from "./collection.ts";
import type { Connection } from "./connection.ts";
import type { PageDocument, SingleDocument } from "./documents.ts";
import { newIdempotencyKey } from "./idempotency-key.ts";

/** The description of a new cluster. */
export type NewWebSocketCluster = z.input<typeof newWebSocketCluster>;
/** The members of a cluster to change; the rest stays as it is. */
export type WebSocketClusterChange = z.input<typeof webSocketClusterChange>;
/** A cluster, with its applications where `include: ["applications"]` asks for them. */
export type WebSocketClusterDocument = SingleDocument<WebSocketClusterResource, ApplicationResource>;
export type WebSocketClusterPage = PageDocument<WebSocketClusterResource>;
/** The description of a new application; everything but the name may be left out. */
export type NewWebsocketApplication = z.input<typeof newApplication>;
/** The members of an application to change; the rest stays as it is, and lists are replaced as a whole. */
export type WebsocketApplicationChange = z.input<typeof applicationChange>;
/** An application, with its cluster where `include: ["server"]` asks for it. */
export type WebsocketApplicationDocument = SingleDocument<ApplicationResource, WebSocketClusterResource>;
export type WebsocketApplicationPage = PageDocument<ApplicationResource>;
/** How long earlier secrets stay valid after a rotation. */
export type WebsocketSecretRotation = z.input<typeof secretRotation>;

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

  /** Reads the time series of connections and messages, of the last six hours by default. */
  async metrics(id: string, period?: MetricPeriod): Promise<WebsocketMetrics> {
    return await readMetrics(this.connection, this.pathOf(id), period);
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

  /** Reads the time series of connections and messages, of the last six hours by default. */
  async metrics(id: string, period?: MetricPeriod): Promise<WebsocketMetrics> {
    return await readMetrics(this.connection, this.pathOf(id), period);
  }

  /** The path of an application does not depend on its cluster. */
  protected override pathOf(id: string): string {
    return `/websocket-applications/${encodeURIComponent(id)}`;
  }
}

async function readMetrics(
  connection: Connection,
  path: string,
  period: MetricPeriod | undefined,
): Promise<WebsocketMetrics> {
  const query = new URLSearchParams(period && { period });
  return await connection.send<WebsocketMetrics>({ method: "GET", path: `${path}/metrics`, query });
}
