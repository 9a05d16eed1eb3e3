// What the host asks of an engine that is the edge, besides running it: the table of routes, which changes while it runs.
import type { EdgePolicy } from "../contracts/edge-route.ts";
import type { InstanceSpec } from "../contracts/instance-spec.ts";
import type { CountedRoute } from "../contracts/readings.ts";
import type { Certificate, EngineContext } from "./engine.ts";

/** Where a route leads. */
export interface EdgeTarget {
  /** The ports on loopback of the instances that run; without any, a request has the instances woken. */
  ports: number[];
  /** Whether the route has one instance, with or without a port. */
  isAlone: boolean;
  timeoutSeconds: number;
  policy: EdgePolicy;
}

/** All that the edge decides by. */
export interface EdgeTable {
  /** The route of each name. */
  names: Map<string, string>;
  targets: Map<string, EdgeTarget>;
}

/**
 * The header with a secret by which an edge of a former release knows a request of the host, and the header of the answer
 * with the port of the instance. No application sees the first.
 */
export const [PROBE_HEADER, PORT_HEADER] = ["x-pilvi-probe", "x-pilvi-port"];

/** How long the edge remembers a route after its latest request. */
export const USE_MEMORY_MS = 20_000;

/** How a route was used lately. */
export interface RouteUse {
  /** Requests under way, from a request that is held to a WebSocket that is open. */
  openRequests: number;
  /** The time since the latest request began or ended. */
  idleMs: number;
  /** The requests that the edge has not written about, since it remembers the route. */
  unlogged: number;
  /**
   * The requests that no rule has refused, since it remembers the route; null from an edge that did not count them. An
   * edge may leave out those of a route that is alone, since it has no other instance that could miss them.
   */
  admitted: number | null;
  /** The answers, since it remembers the route; null from an edge of a release that did not count them. */
  counted: CountedRoute | null;
}

/** How the host changes what a running edge does. */
export interface EngineEdge<S extends InstanceSpec = InstanceSpec> {
  /** The files of the configuration folder that an edge begins with this table from. */
  files(table: EdgeTable): Record<string, string>;
  /** The table of a running edge. @throws when it does not answer. */
  read(context: EngineContext<S>): Promise<EdgeTable>;
  /** Brings a running edge from one table to another, without a connection noticing. @throws when it refuses. */
  change(context: EngineContext<S>, from: EdgeTable, to: EdgeTable): Promise<void>;
  /** The use of each route that had a request within `USE_MEMORY_MS`. @throws when it does not answer. */
  usage(context: EngineContext<S>): Promise<Map<string, RouteUse>>;
  /** The value of the probe's header, which only an edge of a former release needs. */
  probeSecret(context: EngineContext<S>): string;
  /** The unix socket for probes, whose connections do not count as those of clients. An edge of a former release has none. */
  probeSocket(context: EngineContext<S>): string;
  /** Shows new clients another certificate. @throws when it refuses. */
  show(context: EngineContext<S>, certificate: Certificate): Promise<void>;
}
