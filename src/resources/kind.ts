// What every resource kind gives to the rest of the program, and what it is given.
import type { FigureSource } from "../api/metrics.ts";
import type { Operation } from "../api/operation.ts";
import type { Driver, Observation } from "../drivers/driver.ts";
import type { Vault } from "../lib/secrets.ts";
import type { Reconcile } from "../reconciler/loop.ts";
import type { Database } from "../store/database.ts";

/** How instances were when the driver told of them last: from memory, so that asking neither waits nor wakes anything. */
export interface Sightings {
  /** Undefined for an instance that the driver has not told of. */
  of(id: string): Observation | undefined;
  /** Takes in what an order of our own was answered, which the driver may be telling everybody just now. */
  noteAnswer(seen: Observation): void;
}

/** What a kind's routes and reconciler work with. */
export interface KindContext {
  db: Database;
  vault: Vault;
  driver: Driver;
  sightings: Sightings;
  /** The host that new resources are placed on. */
  hostId: string;
  /** Host names that answers carry, by exposure. */
  hostnames: { loopback: string; public: string };
  /** Whether public instances speak TLS. */
  isTls: boolean;
  portRange: { first: number; last: number };
  /** The address that public instances listen on. */
  bind: string;
}

/** One kind of resource: its operations of the API and the loop that makes them true. */
export interface ResourceKind {
  /** The plural noun of the abilities, of the work queue, and of the guide in `docs/`, such as `caches`. */
  name: string;
  operations(context: KindContext): Operation[];
  reconcile(context: KindContext): Reconcile;
  /** What Prometheus can be told of all resources of the kind; left out by a kind that has nothing to tell. */
  figures?: FigureSource<KindContext>;
}
