// The manifest of an instance: what it is to be, kept beside its data, enough to start it with no control plane.
import { existsSync } from "node:fs";
import { z } from "zod";
import type {
  EngineName,
  Exposure,
  InstanceSpec,
  InstanceUser,
  Wake,
  WakeReason,
} from "../drivers/driver.ts";
import { boundedUsers } from "../engines/users.ts";
import { codeOf } from "../lib/errors.ts";
import { keepFile, keptPath, replaceFile } from "../lib/files.ts";
import { readBounded } from "./manifest-text.ts";

/** What the host keeps of an instance's sleep. */
export interface SleepRecord {
  /** Sleeping, it is started by nobody but a client, or by a wish that needs its engine. */
  isAsleep: boolean;
  /** When it fell asleep or was woken, ISO 8601. */
  since: string;
  /** All who may log in, as the engine said when it fell asleep; null when it never did. */
  users: InstanceUser[] | null;
  /** How many more there were than are kept. */
  usersLeftOut: number;
  lastWake: Wake | null;
  wakes: number;
}

/** What the host keeps of an instance. */
export interface Manifest {
  spec: InstanceSpec;
  wish: "present" | "removed";
  /** The engine and the major version that the data was made with; others might not read it. */
  engine: { name: EngineName; major: string };
  adminPassword: string;
  /** The spec took the place of another, with which an engine was started that may still run. */
  isReplaced: boolean;
  /** Who listens at the port since the latest start; the wish for it takes effect at the next one. */
  servedThrough: Exposure["through"];
  /** Whether the users and databases of the spec are in the data as it was left by a clean stop, so that the next start need not bring them there. */
  isSettled: boolean;
  /** Names of the databases that the API made; null of a Pilvi that kept no record of them. */
  madeDatabases: string[] | null;
  sleep: SleepRecord;
}

/** That of an instance that never slept. */
export function neverAsleep(): SleepRecord {
  return {
    isAsleep: false,
    since: new Date().toISOString(),
    users: null,
    usersLeftOut: 0,
    lastWake: null,
    wakes: 0,
  };
}

/** As long as names of any engine, and of any client, need to be. */
const name = z.string().max(1_024);

/** The shape of who woke an instance. */
export const reasonSchema = z.object({
  user: name,
  database: name.optional(),
  application: name.optional(),
  address: name,
}) as unknown as z.ZodType<WakeReason>;

const user = z.object({ name: z.string(), verifier: z.string() });

const milliseconds = z.number().nonnegative();

/** The shape of a wake that came to its end, as it comes from a file or from the gateway. */
export const wakeSchema = z.object({
  at: z.iso.datetime(),
  reason: reasonSchema,
  spansMs: z.object({
    accept: milliseconds,
    auth: milliseconds,
    start: milliseconds,
    ready: milliseconds,
    login: milliseconds,
  }),
}) as unknown as z.ZodType<Wake>;

const common = {
  id: z.string(),
  engines: z.tuple([z.string()], z.string()),
  users: z.array(user),
  exposure: z.object({
    port: z.number().int().nullable(),
    scope: z.enum(["loopback", "public"]),
    through: z.enum(["engine", "gateway"]).default("engine"),
  }),
};

const sleepy = { sleepAfterSeconds: z.number().int().positive().nullable().default(null) };

const cluster = {
  ...sleepy,
  version: z.string().nullable(),
  memoryBytes: z.number().int().positive(),
  cpus: z.number().positive().nullable(),
  maxConnections: z.number().int().positive(),
  databases: z.array(z.object({ name: z.string(), owner: z.string(), wish: z.enum(["present", "absent"]) })),
};

const application = z.object({
  id: z.string(),
  appId: z.string(),
  key: z.string(),
  secrets: z.array(z.object({ secret: z.string(), expiresAt: z.string().nullable() })),
  allowedOrigins: z.array(z.string()),
  pingIntervalSeconds: z.number().int().positive(),
  activityTimeoutSeconds: z.number().int().positive(),
  maxMessageBytes: z.number().int().positive(),
  maxConnections: z.number().int().nonnegative(),
  clientEventsEnabled: z.boolean(),
  subscriptionCountEnabled: z.boolean(),
  webhooks: z.array(
    z.object({
      url: z.string(),
      eventTypes: z.array(z.string()),
      isBatched: z.boolean().default(false),
      filter: z
        .object({ channelNameStartsWith: z.string().optional(), channelNameEndsWith: z.string().optional() })
        .optional(),
    }),
  ),
});

/** The shape of a spec as it comes from a file or over the host's socket. */
export const specSchema = z.discriminatedUnion("kind", [
  z.object({
    ...common,
    ...sleepy,
    kind: z.literal("cache"),
    memoryBytes: z.number().int().positive(),
    evictionPolicy: z.string(),
  }),
  z.object({ ...common, ...cluster, kind: z.literal("postgres") }),
  z.object({ ...common, ...cluster, kind: z.literal("mysql") }),
  z.object({
    ...common,
    kind: z.literal("realtime"),
    maxConnections: z.number().int().positive(),
    applications: z.array(application),
  }),
]) as unknown as z.ZodType<InstanceSpec>;

const manifestSchema = z.object({
  spec: specSchema,
  wish: z.enum(["present", "removed"]),
  engine: z.object({ name: z.string(), major: z.string() }),
  adminPassword: z.string(),
  isReplaced: z.boolean().default(false),
  servedThrough: z.enum(["engine", "gateway"]).default("engine"),
  isSettled: z.boolean().default(false),
  madeDatabases: z.array(z.string()).nullable().default(null),
  sleep: z
    .object({
      isAsleep: z.boolean(),
      since: z.string(),
      users: z.array(user).nullable(),
      usersLeftOut: z.number().int().default(0),
      lastWake: wakeSchema.nullable(),
      wakes: z.number().int(),
    })
    .default(neverAsleep),
}) as unknown as z.ZodType<Manifest>;

/**
 * Reads a manifest; of one that a power cut left empty, what it was when it was last written to stay.
 * @returns null when there is none.
 * @throws when it cannot be understood; the instance's data must then be left alone.
 */
export function readManifest(path: string): Manifest | null {
  try {
    const text = readBounded(path) || readBounded(keptPath(path));
    return withBoundedUsers(manifestSchema.parse(JSON.parse(text)));
  } catch (error) {
    if (codeOf(error) === "ENOENT" && !existsSync(path)) return null;
    throw new Error(`the manifest ${path} cannot be understood`, { cause: error });
  }
}

/** Earlier releases kept all users that an engine told of. */
function withBoundedUsers(manifest: Manifest): Manifest {
  const { spec, sleep } = manifest;
  if (sleep.users === null) return manifest;
  const { users, leftOut } = boundedUsers({ users: sleep.users, leftOut: sleep.usersLeftOut }, spec.users);
  return { ...manifest, sleep: { ...sleep, users, usersLeftOut: leftOut } };
}

/** Replaces the manifest; a power cut may undo it. */
export function noteManifest(path: string, manifest: Manifest): void {
  replaceFile(path, JSON.stringify(manifest), 0o600);
}

/** Replaces the manifest at once; the promise is fulfilled when a power cut can no longer undo it. */
export function writeManifest(path: string, manifest: Manifest): Promise<void> {
  noteManifest(path, manifest);
  return keepFile(path);
}
