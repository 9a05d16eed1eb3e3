// What every resource kind gives to the rest of the program, and what it is given.
import type { FigureSource } from "../api/http/metrics.ts";
import type { Operation } from "../api/operation/operation.ts";
import type { Driver, Exposure, Observation, Offer } from "../drivers/driver.ts";
import type { Vault } from "../lib/secrets.ts";
import type { Reconcile } from "../reconciler/loop.ts";
import type { Database, Queryable } from "../store/database.ts";

/** How instances were when the driver told of them last: from memory, so that asking neither waits nor wakes anything. */
export interface ObservedStates {
  /** Undefined for an instance that the driver has not told of. */
  of(id: string): Observation | undefined;
  /** Every instance that the driver has told of. */
  all(): Iterable<Observation>;
  /** Takes in what an order of our own was answered, which the driver may be telling everybody just now. */
  noteAnswer(seen: Observation): void;
}

/** A host that runs instances: its driver, and how what runs there is reached. */
export interface ServedHost {
  id: string;
  driver: Driver;
  observedStates: ObservedStates;
  /**
   * What its driver offers, remembered for a moment.
   * @throws ApiError 503 while the driver has never answered.
   */
  offer(): Promise<Offer>;
  /** Names that answers carry, and that the control plane logs in at, by the scope of an instance. */
  hostnames: Record<Exposure["scope"], string>;
  /** Whether public instances speak TLS. */
  isTls: boolean;
  /** Out of which instances get their ports. */
  portRange: { first: number; last: number };
}

/** Finds the host of a resource by the `host_id` of its row. */
export interface HostDirectory {
  /** The hosts that this control plane serves. */
  all: readonly ServedHost[];
  /** The host of an existing resource; the driver of a host that is not served here refuses everything. */
  of(hostId: string): ServedHost;
  /** The host that a new resource is placed on. */
  forNew(): ServedHost;
}

/** What an organization may have at most; 0 is no limit. */
export interface Quotas {
  /** Of all kinds together. */
  resources: number;
  caches: number;
  databases: number;
  websockets: number;
  /** The memory that the sizes of all its resources stand for. */
  memoryBytes: number;
  /** On the disk of the host, as measured. */
  storageBytes: number;
  /** Of its database and WebSocket clusters. */
  connections: number;
}

/** What one resource takes of the quotas by its order. */
export interface Allocation {
  memoryBytes: number;
  connections: number;
}

/** What a kind's routes and reconciler work with. */
export interface KindContext {
  db: Database;
  vault: Vault;
  hosts: HostDirectory;
  quotas: Quotas;
}

/** One kind of resource: its operations of the API and the loop that makes them true. */
export interface ResourceKind {
  /** The plural noun of the abilities, of the work queue, and of the guide in `docs/`, such as `caches`. */
  name: string;
  operations(context: KindContext): Operation[];
  /** Left out by a kind of which nothing has to be made true beyond its rows. */
  reconcile?(context: KindContext): Reconcile;
  /** What a resource of any organization takes of its quotas; null for one that is not there. Left out by a kind that takes nothing. */
  allocationOf?(db: Queryable, id: string): Promise<Allocation | null>;
  /** What Prometheus can be told of all resources of the kind; left out by a kind that has nothing to tell. */
  figures?: FigureSource<KindContext>;
}
