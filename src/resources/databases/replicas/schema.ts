// The shape of the read replicas of a database cluster in an answer.
import { z } from "zod";

/** The member `replicas` of a cluster's `meta`. */
export const replicasField = z
  .array(
    z
      .object({
        id: z.string().meta({ example: "replica-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
        hostname: z.string().meta({ description: "As of the cluster.", example: "127.0.0.1" }),
        port: z.int().meta({ description: "The replica's for life.", example: 20_002 }),
        status: z.enum(["creating", "available", "unavailable"]).meta({
          description: "`creating` until it has its data; `unavailable` while its engine does not run.",
        }),
        lag_seconds: z.number().nullable().meta({
          description: "The age of the oldest change that it does not show; null while that is not known.",
          example: 0,
        }),
        last_error: z
          .string()
          .nullable()
          .meta({ description: "Why it is not available; null when all is well.", example: null }),
      })
      .meta({ id: "DatabaseReplica" }),
  )
  .meta({ description: "The copies for reading, at addresses of their own with the cluster's credentials." });

export type DatabaseReplica = z.output<typeof replicasField>[number];
