// The interface between a resource kind and the rest of the program.
import type { Quotas } from "../lib/quota-settings.ts";
import type { Principal } from "../api/auth/auth.ts";
import type { FigureSource } from "../api/http/metrics.ts";
import type { AnyOperation } from "../api/operation/operation.ts";
import type { Protocol } from "../api/operation/protocol.ts";
import type { Offer } from "../contracts/host-answers.ts";
import type { Exposure } from "../contracts/instance-spec.ts";
import type { ArchiveState } from "../contracts/keeper.ts";
import type { Observation } from "../contracts/observation.ts";
import type { Driver } from "../drivers/driver.ts";
import type { VerifiedRestore } from "../contracts/verification.ts";
import type { EdgeSettings } from "../lib/edge-settings.ts";
import type { Log } from "../lib/log.ts";
import type { Vault } from "../lib/secrets.ts";
import type { Reconcile } from "../reconciler/loop.ts";
import type { Repositories } from "../sources/repositories.ts";
import type { Database, Queryable } from "../store/database.ts";

/**
 * The observed states that the driver reported last, kept in memory: reading them neither waits nor wakes an instance.
 */
export interface ObservedStates {
  /** Undefined while the driver has not reported the instance. */
  of(id: string): Observation | undefined;
  /** Every instance that the driver has reported. */
  all(): Iterable<Observation>;
  /**
   * Takes in the driver's answer to a request of this process. The watch may report the same state at the same time.
   */
  noteAnswer(seen: Observation): void;
}

/** A verified restore, as the row of its archive keeps it. */
export interface Verification extends VerifiedRestore {
  /** ISO 8601. */
  endedAt: string;
}

/** What is known of the verified restores of an archive. */
export interface VerificationState {
  /** The latest; null before the first. */
  latest: Verification | null;
  /** The latest in which no fault was found. */
  sound: Verification | null;
  /** Why the latest attempt ended without a result; null when it had one. */
  error: string | null;
}

/** The states of archives that the driver reported last, kept in memory: reading them asks nobody. */
export interface ArchiveStates {
  /** Undefined for an instance without backups, and while the driver has not reported any archive. */
  of(id: string): ArchiveState | undefined;
  /** The verified restores of an archive. */
  verificationOf(id: string): VerificationState;
  all(): Iterable<ArchiveState>;
}

/** A host that runs instances: its driver, and how clients reach its instances. */
export interface ServedHost {
  id: string;
  driver: Driver;
  observedStates: ObservedStates;
  archiveStates: ArchiveStates;
  /**
   * The driver's offer, cached for a short time.
   * @throws ApiError 503 while the driver has never answered.
   */
  offer(): Promise<Offer>;
  /** The host names for answers and for the control plane's own logins, by the scope of an instance. */
  hostnames: Record<Exposure["scope"], string>;
  /** Whether public instances speak TLS. */
  isTls: boolean;
  /** The range of the instances' ports. */
  portRange: { first: number; last: number };
}

/** Finds the host of a resource by the `host_id` of its row. */
export interface HostDirectory {
  /** The hosts that this control plane serves. */
  all: readonly ServedHost[];
  /** The host of an existing resource; for a host that is not served here, its driver refuses every call. */
  of(hostId: string): ServedHost;
  /** The host on which new resources are placed. */
  forNew(): ServedHost;
}

/** The part of the quotas that one resource takes by its order. */
export interface Allocation {
  memoryBytes: number;
  connections: number;
}

/** The context in which a kind's routes and reconciler work. */
export interface KindContext {
  db: Database;
  vault: Vault;
  hosts: HostDirectory;
  quotas: Quotas;
  edge: EdgeSettings;
  /** The sources of applications. */
  repositories: Repositories;
  /** The variables by which an application finds a resource of a kind; empty for a resource that is gone. */
  connectionVariables(kind: string, id: string): Promise<Record<string, string>>;
  /** The resources of a kind with these ids, as answers show them; none for a principal that may not read the kind. */
  attached(kind: string, principal: Principal, ids: readonly string[]): Promise<ResourceObject[]>;
  /** For failures that no request waits for. */
  log: Log;
}

/** The schedule of an instance's backups. */
export interface BackupPolicy {
  /** Whether the log is kept, so that each instant of the window can be restored. */
  keepsLog: boolean;
  /** Whether a backup is due each day, also when little of the log has come since the latest. */
  isDaily: boolean;
  /** How far back backups are kept. */
  retentionDays: number;
  /** The time of the day in UTC for which daily backups are planned, such as `06:00`; null is any time. */
  startsAt: string | null;
}

/** What every resource object of an answer has. */
export interface ResourceObject {
  type: string;
  id: string;
}

/** One kind of resource: its operations in the API, and its reconciler. */
export interface ResourceKind {
  /** The plural noun of the abilities, of the work queue, and of the guide in `docs/`, such as `caches`. */
  name: string;
  operations(context: KindContext): AnyOperation[];
  /** Protocols of other programs that it serves beside the API; absent for a kind without. */
  protocols?(context: KindContext): Protocol[];
  /** Absent for a kind whose rows are its whole state. */
  reconcile?(context: KindContext): Reconcile;
  /**
   * Reconcilers of further work of its resources, by kind of work item, whose runs usually take as long as data is
   * large; left out by a kind without.
   */
  slowWork?: Readonly<Record<string, (context: KindContext) => Reconcile>>;
  /**
   * The allocation of a resource of any organization; null when the resource does not exist. Absent for a kind that
   * takes no part of the quotas.
   */
  allocationOf?(db: Queryable, id: string): Promise<Allocation | null>;
  /**
   * The variables by which an application finds a resource of the kind; empty for a resource that is gone. Absent for a
   * kind that no application can be attached to.
   */
  connectionVariables?(context: KindContext, id: string): Promise<Record<string, string>>;
  /** The resources with these ids that an application can be attached to, for a principal that may read the kind. */
  attached?(context: KindContext, principal: Principal, ids: readonly string[]): Promise<ResourceObject[]>;
  /** The schedule of an instance's backups by its order, as the archive keeps it; absent for a kind without schedules. */
  backupPolicyOf?(source: object): BackupPolicy | null;
  /** The memory of a compute unit in bytes, for each type that is ordered in compute units. */
  computeUnits?: Readonly<Record<string, number>>;
  /** The Prometheus metrics of all resources of the kind; absent for a kind without metrics. */
  figures?: FigureSource<KindContext>;
}
