// The observation of an instance: what a driver sees of it.
import * as z from "zod/mini";
import { engineNameSchema } from "./engine-names.ts";
import { sleepSchema } from "./sleep.ts";

const limitsSchema = z.strictObject({
  /** What a customer can use: all of it for a cluster of databases, keys and values of a cache. */
  memoryBytes: z.number(),
  /** The most that all its processes may take together, with what the engine needs beside; absent when that is `memoryBytes`. */
  totalMemoryBytes: z.exactOptional(z.number()),
  /** How many processes and threads it may have. */
  maxProcesses: z.exactOptional(z.number()),
  /** Absent where the processor is not limited. */
  cpus: z.exactOptional(z.number()),
  maxConnections: z.exactOptional(z.number()),
  /**
   * What holds the instance to it: the kernel all its processes together, the kernel each of its processes by itself (`rlimit`, memory
   * alone), or only the engine's own settings.
   */
  enforcedBy: z.enum(["cgroup-v2", "cgroup-v1", "rlimit", "engine"]),
});

/** What is really in force for an instance, which may be less than what was wished for. */
export type Limits = z.infer<typeof limitsSchema>;

const observedEngineSchema = z.strictObject({
  name: engineNameSchema,
  version: z.string(),
  /** That it lacks security fixes, or gets none any more, as a sentence that may be shown to anyone; null when all is well. */
  warning: z.nullable(z.string()),
});

/** An engine as it runs. */
export type ObservedEngine = z.infer<typeof observedEngineSchema>;

export const observationSchema = z.strictObject({
  id: z.string(),
  /**
   * `running` means that the engine said it is ready; `failed` that it could not start and is tried again; `asleep` that it
   * was stopped with all that it holds saved, and starts when somebody needs it; `draining` that it is about to fall asleep
   * and still runs.
   */
  state: z.enum(["absent", "starting", "running", "failed", "stopped", "removing", "asleep", "draining"]),
  /** When the state was reached, ISO 8601. */
  since: z.string(),
  /** The engine that really runs, once it was chosen. */
  engine: z.nullable(observedEngineSchema),
  limits: z.nullable(limitsSchema),
  /** Why the last start failed, as a sentence that may be shown to anyone. */
  lastError: z.nullable(z.string()),
  /** How often the engine ended without having been asked to. */
  crashes: z.int(),
  /** Names of databases of the spec that are not as it says, while all else is; `lastError` says why. Left out when there are none. */
  pendingDatabases: z.exactOptional(z.array(z.string())),
  /** Null for an instance that is not behind the gateway. */
  sleep: z.nullable(sleepSchema),
});

/** What can be seen of an instance. */
export type Observation = z.infer<typeof observationSchema>;
