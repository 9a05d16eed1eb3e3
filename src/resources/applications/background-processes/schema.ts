// The shapes of requests for a background process, and of a background process in an answer.
import { z } from "zod";
import { resourceIdentifier } from "../../../api/jsonapi/jsonapi.ts";
import { createdAt } from "../../shared/fields.ts";

/** The most processes of a background process beside one replica. */
export const MAX_PROCESSES = 10;
const MAX_COMMAND = 2_000;
const MAX_SECONDS = 86_400;

const type = z.enum(["worker", "custom"]).meta({
  id: "BackgroundProcessType",
  description: "`worker` is the queue worker of the framework, `custom` a command.",
});

const shownType = z.enum([...type.options, "scheduler"]).meta({
  id: "ShownBackgroundProcessType",
  description:
    "`scheduler` is the scheduler of the framework, which `uses_scheduler` of its instance turns on and off; it runs once for all replicas.",
  example: "custom",
});

const processes = z.int().min(1).max(MAX_PROCESSES).meta({
  description: "How many of it run beside each replica of its instance.",
  example: 1,
});

const command = z
  .string()
  .min(1)
  .max(MAX_COMMAND)
  .regex(/^[^\0]+$/)
  .meta({ description: "Runs in the release; needed for `custom` alone.", example: "node worker.js" });

const name = z
  .string()
  .max(255)
  .regex(/^[A-Za-z0-9_.:,-]+$/);
const seconds = z.int().min(0).max(MAX_SECONDS);

/** The options of a queue worker. */
const workerConfig = z
  .strictObject({
    connection: name.optional(),
    queue: name
      .meta({ description: "Names of queues, with commas between them.", example: "high,low" })
      .optional(),
    tries: z.int().min(0).max(1_000).optional(),
    backoff: seconds.optional(),
    sleep: seconds.optional(),
    rest: seconds.optional(),
    timeout: seconds.optional(),
    force: z.boolean().optional(),
  })
  .meta({ id: "WorkerConfig", description: "The options of a `worker`." });

export type WorkerConfig = z.output<typeof workerConfig>;

/** The body of `POST /instances/:id/background-processes`. */
export const newBackgroundProcess = z
  .object({ type, processes, command: command.optional(), config: workerConfig.optional() })
  .meta({ id: "NewBackgroundProcess" });

export type NewBackgroundProcess = z.output<typeof newBackgroundProcess>;

/** The body of `PATCH /background-processes/:id`. */
export const backgroundProcessChange = z
  .object({
    type: type.optional(),
    processes: processes.optional(),
    command: command.optional(),
    config: workerConfig.optional(),
  })
  .meta({ id: "BackgroundProcessChange" });

export type BackgroundProcessChange = z.output<typeof backgroundProcessChange>;

const attributes = z
  .object({
    type: shownType,
    processes,
    command: z.string().meta({ example: "node worker.js" }),
    config: z.union([workerConfig, z.array(z.never())]).meta({ description: "`[]` without options." }),
    strategy_type: z.literal("none"),
    strategy_threshold: z.null(),
    created_at: createdAt,
  })
  .meta({ id: "BackgroundProcessAttributes" });

const meta = z
  .object({
    procfile_name: z.string().nullable().meta({
      description: "The name of its line in the `Procfile`, which has its command; null for all others.",
      example: null,
    }),
    running: z.int().meta({ description: "How many of its processes run or sleep now.", example: 1 }),
    last_error: z.string().nullable().meta({
      description:
        "Why the latest process could not be started; null for a token that may not see variables.",
      example: null,
    }),
  })
  .meta({ id: "BackgroundProcessMeta" });

/** A background process as answers show it. */
export const backgroundProcessResource = z
  .object({
    id: z.string().meta({ example: "process-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("background_processes"),
    attributes,
    relationships: z.object({ instance: z.object({ data: resourceIdentifier("instances") }) }),
    meta,
  })
  .meta({ id: "BackgroundProcess" });

export type BackgroundProcessResource = z.output<typeof backgroundProcessResource>;
