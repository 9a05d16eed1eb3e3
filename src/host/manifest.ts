// The manifest of an instance: what it is to be, kept beside its data, enough to start it with no control plane.
import { readFileSync } from "node:fs";
import { z } from "zod";
import type { EngineName, InstanceSpec } from "../drivers/driver.ts";
import { codeOf } from "../lib/errors.ts";
import { replaceFile, syncFile } from "../lib/files.ts";

/** What the host keeps of an instance. */
export interface Manifest {
  spec: InstanceSpec;
  wish: "present" | "removed";
  /** The engine and the major version that the data was made with; others might not read it. */
  engine: { name: EngineName; major: string };
  adminPassword: string;
  /** The spec took the place of another, with which an engine was started that may still run. */
  isReplaced: boolean;
}

const user = z.object({ name: z.string(), verifier: z.string() });

const common = {
  id: z.string(),
  engines: z.tuple([z.string()], z.string()),
  users: z.array(user),
  exposure: z.object({
    port: z.number().int().nullable(),
    scope: z.enum(["loopback", "public"]),
  }),
};

const cluster = {
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
}) as unknown as z.ZodType<Manifest>;

/**
 * Reads a manifest.
 * @returns null when there is none.
 * @throws when it cannot be understood; the instance's data must then be left alone.
 */
export function readManifest(path: string): Manifest | null {
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw new Error(`the manifest ${path} cannot be understood`, { cause: error });
  }
}

/** Replaces the manifest at once; the promise is fulfilled when a power cut can no longer undo it. */
export function writeManifest(path: string, manifest: Manifest): Promise<void> {
  replaceFile(path, JSON.stringify(manifest), 0o600);
  return syncFile(path);
}
