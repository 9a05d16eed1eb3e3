// The variable parts of the paths of database clusters.
import { z } from "zod";

export const clusterParams = z.object({
  id: z
    .string()
    .regex(/^db-[0-9a-f-]{36}$/)
    .meta({ description: "The cluster's id.", example: "db-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
});
