// What the host asks of an engine that is the edge, besides running it: the table of routes, which changes while it runs.
import type { InstanceSpec } from "../contracts/instance-spec.ts";
import type { Certificate, EngineContext } from "./engine.ts";

/** Where a route leads. */
export interface EdgeTarget {
  /** The port of the instance on loopback; 0 while the instance does not run, so that a request has it woken. */
  port: number;
  timeoutSeconds: number;
}

/** All that the edge decides by. */
export interface EdgeTable {
  /** The route of each name. */
  names: Map<string, string>;
  targets: Map<string, EdgeTarget>;
}

/** A table without routes. */
export function emptyTable(): EdgeTable {
  return { names: new Map(), targets: new Map() };
}

/** How the host changes what a running edge does. */
export interface EngineEdge<S extends InstanceSpec = InstanceSpec> {
  /** The files of the configuration folder that an edge begins with this table from. */
  files(table: EdgeTable): Record<string, string>;
  /** The table of a running edge. @throws when it does not answer. */
  read(context: EngineContext<S>): Promise<EdgeTable>;
  /** Brings a running edge from one table to another, without a connection noticing. @throws when it refuses. */
  change(context: EngineContext<S>, from: EdgeTable, to: EdgeTable): Promise<void>;
  /** Shows new clients another certificate. @throws when it refuses. */
  show(context: EngineContext<S>, certificate: Certificate): Promise<void>;
}
