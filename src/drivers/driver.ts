// What a driver is asked for and what it tells: instances as data, with no word of how they are run.
import type { Sleep } from "./sleep.ts";

export type { Sleep, SleepState, Wake, WakeReason } from "./sleep.ts";

/** Engines that are programs of others, and have to be installed. */
export type ForeignEngine = "valkey" | "redis" | "postgres" | "mysql" | "mariadb";

/** Engines that a driver may run an instance with; `realtime` is a part of Pilvi. */
export type EngineName = ForeignEngine | "realtime";

/** What makes a cache drop keys when its memory is full. */
export type EvictionPolicy =
  | "noeviction"
  | "allkeys-lru"
  | "allkeys-lfu"
  | "allkeys-random"
  | "volatile-lru"
  | "volatile-lfu"
  | "volatile-random"
  | "volatile-ttl";

/** Somebody who may log in. Only what verifies the password is told, never the password. */
export interface InstanceUser {
  name: string;
  /**
   * SHA-256 of the password in hexadecimal for a cache, a SCRAM-SHA-256 verifier for Postgres, `*` and SHA-1 of SHA-1 in
   * upper-case hexadecimal for MySQL.
   */
  verifier: string;
}

/** Where an instance can be reached from. */
export interface Exposure {
  /** The TCP port, the instance's for life; null for one that is reached through its unix socket only. */
  port: number | null;
  /** `loopback` is reachable on this machine alone, `public` on the address that the operator chose. */
  scope: "loopback" | "public";
  /** Who listens at the port: the engine itself, or the gateway, behind which the engine has a unix socket only. */
  through: "engine" | "gateway";
}

/** What may sleep while nobody uses it. */
interface Sleepy {
  /** Seconds without use after which it is to sleep; null is never. It takes effect behind the gateway only. */
  sleepAfterSeconds: number | null;
}

interface SpecBase {
  /** The resource's id; every path and name of the instance derives from it. */
  id: string;
  /** Engines that will do, the preferred one first; the one taken at the first start is kept for life. */
  engines: [EngineName, ...EngineName[]];
  users: InstanceUser[];
  exposure: Exposure;
}

/** A Valkey or Redis. */
export interface CacheSpec extends SpecBase, Sleepy {
  kind: "cache";
  /** The most memory that keys and values may take, in bytes. */
  memoryBytes: number;
  evictionPolicy: EvictionPolicy;
}

/** A database that the cluster is to have, or to have no more; any others are the customer's own business. */
export interface DatabaseWish {
  name: string;
  owner: string;
  wish: "present" | "absent";
}

interface ClusterSpec extends SpecBase, Sleepy {
  /** The major version, such as `17`; null for the newest that is installed. It is kept for life. */
  version: string | null;
  memoryBytes: number;
  /** May be a fraction; null is no limit. */
  cpus: number | null;
  maxConnections: number;
  databases: DatabaseWish[];
}

/** A Postgres. */
export interface PostgresSpec extends ClusterSpec {
  kind: "postgres";
}

/** A MySQL or MariaDB. */
export interface MysqlSpec extends ClusterSpec {
  kind: "mysql";
}

/** A server that speaks the Pusher Channels protocol. */
export interface RealtimeSpec extends SpecBase {
  kind: "realtime";
  engines: ["realtime"];
  /** Nobody logs in; requests and subscriptions are signed with an application's secret. */
  users: [];
  /** Of all applications together. */
  maxConnections: number;
  applications: RealtimeApplication[];
}

/** An application of a realtime server, which takes changes over while it runs. */
export interface RealtimeApplication {
  /** The resource's id. */
  id: string;
  /** Digits, as the URLs of the protocol have it. */
  appId: string;
  key: string;
  /**
   * The one that signs first, then those that were rotated out and are still good for a time. They are told in clear, since
   * whoever checks a signature needs them; whatever keeps a spec must be open to nobody but its own user.
   */
  secrets: { secret: string; expiresAt: string | null }[];
  /** Empty allows every origin. */
  allowedOrigins: string[];
  pingIntervalSeconds: number;
  activityTimeoutSeconds: number;
  maxMessageBytes: number;
  maxConnections: number;
  clientEventsEnabled: boolean;
  subscriptionCountEnabled: boolean;
  webhooks: RealtimeWebhook[];
}

/** An address that a realtime server tells what happens. */
export interface RealtimeWebhook {
  url: string;
  eventTypes: RealtimeEventType[];
  /** Whether a request may have several events. */
  isBatched: boolean;
  filter?: { channelNameStartsWith?: string; channelNameEndsWith?: string };
}

/** What a realtime server can tell of. */
export type RealtimeEventType =
  | "channel_occupied"
  | "channel_vacated"
  | "member_added"
  | "member_removed"
  | "client_event"
  | "cache_miss"
  | "subscription_count";

/** All that a driver needs to know to run one instance. It is data that can be stored and compared. */
export type InstanceSpec = CacheSpec | PostgresSpec | MysqlSpec | RealtimeSpec;

/** What is really in force for an instance, which may be less than what was wished for. */
export interface Limits {
  /** What a customer can use: all of it for a cluster of databases, keys and values of a cache. */
  memoryBytes: number;
  /** The most that all its processes may take together, with what the engine needs beside; absent when that is `memoryBytes`. */
  totalMemoryBytes?: number;
  /** How many processes and threads it may have. */
  maxProcesses?: number;
  /** Absent where the processor is not limited. */
  cpus?: number;
  maxConnections?: number;
  /**
   * What holds the instance to it: the kernel all its processes together, the kernel each of its processes by itself (`rlimit`, memory
   * alone), or only the engine's own settings.
   */
  enforcedBy: "cgroup-v2" | "cgroup-v1" | "rlimit" | "engine";
}

/** An engine as it runs. */
export interface ObservedEngine {
  name: EngineName;
  version: string;
  /** That it lacks security fixes, or gets none any more, as a sentence that may be shown to anyone; null when all is well. */
  warning: string | null;
}

/** What can be seen of an instance. */
export interface Observation {
  id: string;
  /**
   * `running` means that the engine said it is ready; `failed` that it could not start and is tried again; `asleep` that it
   * was stopped with all that it holds saved, and starts when somebody needs it; `draining` that it is about to fall asleep
   * and still runs.
   */
  state: "absent" | "starting" | "running" | "failed" | "stopped" | "removing" | "asleep" | "draining";
  /** When the state was reached, ISO 8601. */
  since: string;
  /** The engine that really runs, once it was chosen. */
  engine: ObservedEngine | null;
  limits: Limits | null;
  /** Why the last start failed, as a sentence that may be shown to anyone. */
  lastError: string | null;
  /** How often the engine ended without having been asked to. */
  crashes: number;
  /** Names of databases of the spec that are not as it says, while all else is; `lastError` says why. Left out when there are none. */
  pendingDatabases?: string[];
  /** Null for an instance that is not behind the gateway. */
  sleep: Sleep | null;
}

/** Which figures of an instance are wanted. */
export interface MetricsQuery {
  /** A part of the instance, such as an application; the whole instance when left out. */
  part?: string;
  /** How far back they go. */
  periodSeconds: number;
}

/** Figures over time, by name; each with the oldest first. */
export type Series = Record<string, { at: string; value: number }[]>;

/** Figures of the moment, by name: of an instance, and of each of its parts. */
export interface Figures {
  whole: Record<string, number>;
  parts: { id: string; figures: Record<string, number> }[];
}

/** An engine that new instances could get. */
export interface OfferedEngine {
  name: EngineName;
  version: string;
  /** What customers can create in it, for an engine that has extensions. */
  extensions?: { name: string; version: string }[];
}

/** What instances take on the disk. */
export interface StorageReading {
  /** Names this reading, for the next one to have only what changed since. */
  cursor: string;
  /** Bytes by the id of each instance that was measured. */
  bytes: Record<string, number>;
}

/** What a driver can run, and with how much. */
export interface Offer {
  /** Engines that are installed, the newest version of each major one, preferred ones first. */
  engines: OfferedEngine[];
  /** Memory of the machine, in bytes. */
  memoryBytes: number;
}

/** Runs instances somewhere: processes on this machine today, pods of a cluster later. */
export interface Driver {
  /** What new instances could get. */
  offer(): Promise<Offer>;
  /**
   * Makes the instance as the spec says and resolves when it runs or has failed to. Can be called again at any time.
   * @throws PublicError when the driver cannot be reached or refuses the spec.
   */
  ensure(spec: InstanceSpec, signal?: AbortSignal): Promise<Observation>;
  /**
   * Puts the instance to sleep without waiting for it to be unused, and resolves when it sleeps, or did already.
   * @throws PublicError when it cannot sleep now, with a sentence that says what keeps it awake; it then runs as before.
   */
  suspend(id: string, signal?: AbortSignal): Promise<Observation>;
  /** Stops the instance, deletes all that belongs to it, and resolves when nothing is left. Absent is fine. */
  remove(id: string): Promise<void>;
  /** Tells how the instance is now; an unknown id is `absent`. */
  observe(id: string): Promise<Observation>;
  /**
   * Tells figures of an instance over time; none for one that keeps none.
   * @throws PublicError when the driver or the instance cannot be reached.
   */
  metrics(id: string, query: MetricsQuery): Promise<Series>;
  /**
   * Tells the figures of an instance at this moment; none for one that has none.
   * @throws PublicError when the driver or the instance cannot be reached.
   */
  figures(id: string, signal?: AbortSignal): Promise<Figures>;
  /**
   * Tells what instances take on the disk, as it was measured last.
   * @param cursor of an earlier reading, to be told only what changed since; all when left out or no longer known.
   * @throws PublicError when the driver cannot be reached.
   */
  storage(cursor?: string): Promise<StorageReading>;
  /**
   * Calls back with every instance's observation first, then with `synced`, then with every change as it happens.
   * Reconnects by itself, and begins anew when it does, until the signal is aborted.
   */
  watch(events: WatchEvents, signal: AbortSignal): void;
}

/** What a watch calls. */
export interface WatchEvents {
  changed(observation: Observation): void;
  /** All instances have been told; whatever was not named is absent. */
  synced(ids: string[]): void;
}
