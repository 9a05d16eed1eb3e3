// The instance spec: all that a driver needs to run one instance, as data that can be stored and compared.
import * as z from "zod/mini";
import {
  commandSchema,
  reachesSchema,
  runtimeSchema,
  variableNameSchema,
  variablesSchema,
} from "./application.ts";
import { safeIdSchema } from "./safe-id.ts";
import { engineNameSchema } from "./engine-names.ts";
import { instanceUserSchema } from "./users.ts";
import { webSocketApplicationSchema } from "./websocket-application.ts";

const positive = z.int().check(z.positive());

export const exposureSchema = z.strictObject({
  /** The TCP port, the instance's for life; null for an instance that is reached through its unix socket only. */
  port: z.nullable(z.int()),
  /** `loopback` is reachable on this machine only, `public` at the address that the operator chose. */
  scope: z.enum(["loopback", "public"]),
  /** The listener at the port: the engine itself, or the gateway, behind which the engine has only a unix socket. */
  through: z.enum(["engine", "gateway"]),
});

/** Where an instance can be reached from. */
export type Exposure = z.infer<typeof exposureSchema>;

const evictionPolicySchema = z.enum([
  "noeviction",
  "allkeys-lru",
  "allkeys-lfu",
  "allkeys-random",
  "volatile-lru",
  "volatile-lfu",
  "volatile-random",
  "volatile-ttl",
]);

/** How a cache evicts keys when its memory is full. */
export type EvictionPolicy = z.infer<typeof evictionPolicySchema>;

const common = {
  /** The resource's id. Every path and name of the instance derives from it. */
  id: safeIdSchema,
  /** Suitable engines, the preferred engine first; an instance keeps the engine of its first start for life. */
  engines: z.tuple([engineNameSchema], engineNameSchema),
  users: z.array(instanceUserSchema),
  exposure: exposureSchema,
};

const originSchema = z.union([
  z.strictObject({ archive: safeIdSchema, backup: safeIdSchema }),
  z.strictObject({ archive: safeIdSchema, at: z.string() }),
  z.strictObject({ instance: safeIdSchema }),
]);

/**
 * What the first data of an instance comes from: a backup of an archive, an instant of its log, or another instance
 * of the same host as it is now. The instance keeps its own users, passwords and address.
 */
export type Origin = z.infer<typeof originSchema>;

const keepsData = {
  /** Left out for an instance that begins empty; never changed after the first `ensure`. */
  origin: z.exactOptional(originSchema),
  /**
   * Another instance of this host whose data takes the place of this one's: that instance is stopped for it, and
   * its data is moved here, once for each id. Left out for an instance that keeps its own data.
   */
  adopts: z.exactOptional(safeIdSchema),
};

const sleepy = {
  /**
   * Idle seconds after which the instance is to sleep; null is never. It takes effect behind the gateway, and for an
   * application while a route of the edge leads to it.
   */
  sleepAfterSeconds: z.nullable(positive),
};

const cacheSpecSchema = z.strictObject({
  kind: z.literal("cache"),
  ...common,
  ...keepsData,
  ...sleepy,
  /** The most memory that keys and values may take, in bytes. */
  memoryBytes: positive,
  evictionPolicy: evictionPolicySchema,
});

/** A Valkey or Redis. */
export type CacheSpec = z.infer<typeof cacheSpecSchema>;

const databaseSchema = z.strictObject({
  name: z.string(),
  owner: z.string(),
  desiredState: z.enum(["present", "absent"]),
});

/** A database that the cluster must have, or must not have; all other databases are the customer's own. */
export type DatabaseSpec = z.infer<typeof databaseSchema>;

const cluster = {
  ...common,
  ...keepsData,
  ...sleepy,
  /** The major version, such as `17`; null for the newest that is installed. It is kept for life. */
  version: z.nullable(z.string()),
  memoryBytes: positive,
  /** May be a fraction; null is no limit. */
  cpus: z.nullable(z.number().check(z.positive())),
  maxConnections: positive,
  databases: z.array(databaseSchema),
};

const postgresSpecSchema = z.strictObject({
  kind: z.literal("postgres"),
  ...cluster,
  /** Whether its log is kept and shipped to the archive, so that any instant can be restored. */
  keepsLog: z.exactOptional(z.boolean()),
  /**
   * The instance of this host that this is a replica of, for reading: its data is from that instance's archive, whose
   * log it follows. Left out for any other instance; never changed after the first `ensure`.
   */
  replicaOf: z.exactOptional(safeIdSchema),
});

/** A Postgres. */
export type PostgresSpec = z.infer<typeof postgresSpecSchema>;

/** Whether an instance is Pilvi's own. A background process of an application has no port either, and is a customer's. */
export function isPilvisOwn({ kind, exposure }: Pick<InstanceSpec, "kind" | "exposure">): boolean {
  return exposure.port === null && kind !== "application";
}

const mysqlSpecSchema = z.strictObject({
  kind: z.literal("mysql"),
  ...cluster,
  /** Whether its binary log is kept and shipped to the archive, so that any instant can be restored. */
  keepsLog: z.exactOptional(z.boolean()),
});

/** A MySQL or MariaDB. */
export type MysqlSpec = z.infer<typeof mysqlSpecSchema>;

const realtimeSpecSchema = z.strictObject({
  kind: z.literal("realtime"),
  ...common,
  engines: z.tuple([z.literal("realtime")]),
  /** Realtime servers have no users: an application's secret signs requests and subscriptions. */
  users: z.tuple([]),
  /** The connections of all applications together. */
  maxConnections: positive,
  applications: z.array(webSocketApplicationSchema),
});

/** A server that speaks the Pusher Channels protocol. */
export type RealtimeSpec = z.infer<typeof realtimeSpecSchema>;

const edgeSpecSchema = z.strictObject({
  kind: z.literal("edge"),
  ...common,
  /** The edge has no users: every client of its address may ask. */
  users: z.tuple([]),
  /** The port for HTTPS beside that of the exposure, which is for HTTP; null without HTTPS. */
  httpsPort: z.nullable(z.int().check(z.minimum(1), z.maximum(65_535))),
  /** The connections of all clients together. */
  maxConnections: positive,
  /** The connections of clients of one address, or of one IPv6 network. */
  maxConnectionsPerAddress: positive,
});

/** The HTTP server in front of applications, which leads each request to the instance of its name. */
export type EdgeSpec = z.infer<typeof edgeSpecSchema>;

const applicationSpecSchema = z.strictObject({
  kind: z.literal("application"),
  ...common,
  ...sleepy,
  engines: z.tuple([z.literal("application")]),
  /** The edge alone speaks with an application, which has no users for Pilvi. */
  users: z.tuple([]),
  /** All instances and builds of an environment share a user of the machine. */
  environment: safeIdSchema,
  /** The deployment that it serves, which its log names. */
  deployment: z.exactOptional(safeIdSchema),
  /** The release that it runs, which a build has made on this host. */
  release: safeIdSchema,
  runtime: runtimeSchema,
  /** Null where a server of Pilvi's choice serves: a static site, or a public folder with PHP. */
  command: z.nullable(commandSchema),
  /** `PORT` is always the port of the exposure. */
  variables: variablesSchema,
  /**
   * Names of variables with passwords that are rotated: a changed value restarts nothing, and the next start has it.
   * None when left out.
   */
  credentials: z.exactOptional(z.array(variableNameSchema)),
  /** None when left out. */
  reaches: z.exactOptional(reachesSchema),
  memoryBytes: positive,
  /** May be a fraction; null is no limit. */
  cpus: z.nullable(z.number().check(z.positive())),
  maxProcesses: z.int().check(z.minimum(8), z.maximum(8_192)),
  /** The path that has to answer below 500 before it counts as running; null asks only that the port accepts. */
  healthPath: z.nullable(z.string().check(z.maxLength(1_024), z.regex(/^\/[\x21-\x7e]*$/))),
  /** How long it may take until it is ready. */
  startTimeoutSeconds: z.int().check(z.minimum(1), z.maximum(600)),
  /** How long it may take to end after SIGTERM. */
  shutdownTimeoutSeconds: z.int().check(z.minimum(0), z.maximum(600)),
});

/** A process of a customer's application. */
export type ApplicationSpec = z.infer<typeof applicationSpecSchema>;

export const instanceSpecSchema = z.discriminatedUnion("kind", [
  cacheSpecSchema,
  postgresSpecSchema,
  mysqlSpecSchema,
  realtimeSpecSchema,
  edgeSpecSchema,
  applicationSpecSchema,
]);

export type InstanceSpec = z.infer<typeof instanceSpecSchema>;

/** The instance whose data the spec wants; null for an instance that keeps its own. */
export function adoptedBy(spec: InstanceSpec): string | null {
  return "adopts" in spec ? (spec.adopts ?? null) : null;
}

/** The instance that the spec is a replica of; null for any other instance. */
export function primaryOf(spec: InstanceSpec): string | null {
  return "replicaOf" in spec ? (spec.replicaOf ?? null) : null;
}
