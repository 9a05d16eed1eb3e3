// The shapes of requests for an instance of an environment, and of an instance in an answer.
import { z } from "zod";
import { resourceIdentifier } from "../../../api/jsonapi/jsonapi.ts";
import { createdAt } from "../../shared/fields.ts";
import { sleepMinutes } from "../environments/settings.ts";
import { instanceSizes } from "./sizes.ts";

/** The names of all sizes. */
export const sizeNames = instanceSizes.map(({ name }) => name) as [string, ...string[]];

const size = z.enum(sizeNames).meta({
  id: "InstanceSize",
  description: "Processors and memory of each process, as `GET /instances/sizes` lists them.",
  example: "flex.g-1vcpu-512mb",
});

const name = z.string().min(3).max(40).meta({ example: "App" });

/** The most replicas of an instance. */
const MAX_REPLICAS = 10;

export const instanceTypes = ["app", "service"] as const;
export const scalingTypes = ["none", "custom"] as const;

const scalingType = z.enum(scalingTypes).meta({
  id: "ScalingType",
  description: "`none` is a single replica, `custom` the number of `min_replicas` and `max_replicas`.",
});

const replicas = z.int().min(1).max(MAX_REPLICAS).meta({
  description: "How many run. Both numbers are the same, since nothing scales by itself.",
  example: 2,
});

const scheduler = z.boolean().meta({
  description:
    "Whether `php artisan schedule:run` of Laravel runs each minute, once for all replicas, while the environment is awake. At most one instance of an environment has the scheduler.",
  example: false,
});

/** The body of `POST /environments/:id/instances`. */
export const newInstance = z
  .object({
    name,
    type: z.literal("service").meta({ description: "Runs background processes alone." }),
    size,
    scaling_type: scalingType,
    min_replicas: replicas.optional(),
    max_replicas: replicas.optional(),
    uses_scheduler: scheduler.optional(),
  })
  .meta({ id: "NewInstance" });

export type NewInstance = z.output<typeof newInstance>;

/** The body of `PATCH /instances/:id`. */
export const instanceChange = z
  .object({
    name: name.optional(),
    size: size.optional(),
    scaling_type: scalingType.optional(),
    min_replicas: replicas.optional(),
    max_replicas: replicas.optional(),
    uses_scheduler: scheduler.optional(),
    hibernation_timeout: sleepMinutes.nullable().optional().meta({
      description:
        "Minutes without a request after which the environment sleeps; null keeps it awake. An environment shows them as `uses_hibernation` and `meta.sleep_timeout`. For the instance that serves requests.",
      example: 5,
    }),
    uses_sleep_mode: z.boolean().optional().meta({
      deprecated: true,
      description: "Whether the environment sleeps; `hibernation_timeout` wins over it.",
    }),
    sleep_timeout: sleepMinutes.optional().meta({
      deprecated: true,
      description: "Minutes without a request after which it sleeps; `hibernation_timeout` wins over it.",
    }),
  })
  .meta({ id: "InstanceChange" });

export type InstanceChange = z.output<typeof instanceChange>;

const attributes = z
  .object({
    name: z.string().meta({ example: "App" }),
    type: z
      .enum(["app", "service"])
      .meta({ description: "`app` serves requests, `service` has background processes alone." }),
    size,
    scaling_type: scalingType,
    min_replicas: replicas,
    max_replicas: replicas,
    uses_scheduler: scheduler,
    scaling_cpu_threshold_percentage: z.null(),
    scaling_memory_threshold_percentage: z.null(),
    created_at: createdAt,
  })
  .meta({ id: "InstanceAttributes" });

/** An instance as answers show it. */
export const instanceResource = z
  .object({
    id: z.string().meta({ example: "inst-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("instances"),
    attributes,
    relationships: z.object({
      environment: z.object({ data: resourceIdentifier("environments") }),
      backgroundProcesses: z.object({ data: z.array(resourceIdentifier("background_processes")) }),
    }),
  })
  .meta({ id: "Instance" });

export type InstanceResource = z.output<typeof instanceResource>;

/** The answer of `GET /instances/sizes`. */
export const instanceSizeList = z.object({
  data: z.object({
    general: z.array(
      z.object({
        name: z.string(),
        label: z.string().meta({ example: "Flex" }),
        description: z.string().meta({ example: "1 vCPU · 512 MiB RAM" }),
        cpu_type: z.string().meta({ example: "flex" }),
        compute_class: z.string().meta({ example: "flex.g" }),
        cpu_count: z.int(),
        memory_mib: z.int(),
      }),
    ),
  }),
});

export type InstanceSizeList = z.output<typeof instanceSizeList>;
