// The observation of an instance: what a driver sees of it.
import * as z from "zod/mini";
import { isolationSchema } from "./application.ts";
import { engineNameSchema } from "./engine-names.ts";
import { sleepSchema } from "./sleep.ts";

const limitsSchema = z.strictObject({
  /** The memory that a customer can use: all of it in a database cluster, keys and values in a cache. */
  memoryBytes: z.number(),
  /**
   * The most memory that all processes may take together, the engine's own needs included; absent when that is
   * `memoryBytes`.
   */
  totalMemoryBytes: z.exactOptional(z.number()),
  /** How many processes and threads the instance may have. */
  maxProcesses: z.exactOptional(z.number()),
  /** Absent where the processor is not limited. */
  cpus: z.exactOptional(z.number()),
  maxConnections: z.exactOptional(z.number()),
  /**
   * What enforces the limits: the kernel on all processes together, the kernel on each process by itself (`rlimit`,
   * memory alone), or only the engine's own settings.
   */
  enforcedBy: z.enum(["cgroup-v2", "cgroup-v1", "rlimit", "engine"]),
});

/** The limits in force for an instance, which may be below its spec. */
export type Limits = z.infer<typeof limitsSchema>;

/** An engine as it runs. */
const observedEngineSchema = z.strictObject({
  name: engineNameSchema,
  version: z.string(),
  /**
   * That the engine lacks security fixes, or gets none any more, as a sentence that may be shown to anyone; null when
   * all is well.
   */
  warning: z.nullable(z.string()),
});

export const observationSchema = z.strictObject({
  id: z.string(),
  /**
   * `running`: the engine said that it is ready. `failed`: the engine could not start, and the host tries again.
   * `asleep`: the engine was stopped with all its data saved, and starts when a client needs it. `draining`: the
   * instance is about to fall asleep and still runs.
   */
  state: z.enum(["absent", "starting", "running", "failed", "stopped", "removing", "asleep", "draining"]),
  /** When the state was reached, ISO 8601. */
  since: z.string(),
  /** The engine in use, once it was chosen. */
  engine: z.nullable(observedEngineSchema),
  limits: z.nullable(limitsSchema),
  /** Why the last start failed, as a sentence that may be shown to anyone. */
  lastError: z.nullable(z.string()),
  /** How often the engine ended without an order. */
  crashes: z.int(),
  /**
   * Names of databases of the spec that differ from it, while all else is as it says; `lastError` says why. Left out
   * when there are none.
   */
  pendingDatabases: z.exactOptional(z.array(z.string())),
  /**
   * Names of databases of the spec that the data of its origin does not have, and that were not made. They are pending
   * as well. Left out when there are none.
   */
  missingDatabases: z.exactOptional(z.array(z.string())),
  /** How much of its first data is there, while that is built from the origin of its spec. */
  restoring: z.exactOptional(z.strictObject({ doneBytes: z.number(), totalBytes: z.number() })),
  /**
   * That its origin cannot be restored, as `lastError` says. The host tries again only when it is asked again, or when a
   * keeper answers that did not answer before.
   */
  restoreFailed: z.exactOptional(z.literal(true)),
  /** How far a replica is behind; left out for any other instance. */
  replica: z.exactOptional(
    z.strictObject({
      /** The age of the oldest change that it does not show; null while that is not known. */
      lagSeconds: z.nullable(z.number()),
    }),
  ),
  /** What separates an application from the machine; left out for any other instance. */
  isolation: z.exactOptional(isolationSchema),
  /** Null for an instance that is not behind the gateway. */
  sleep: z.nullable(sleepSchema),
});

/** An instance as a driver sees it. */
export type Observation = z.infer<typeof observationSchema>;
