// The variable parts of the paths of database clusters, and of the databases in them.
import { z } from "zod";

export const clusterParams = z.object({
  id: z
    .string()
    .regex(/^db-[0-9a-f-]{36}$/)
    .meta({ description: "The cluster's id.", example: "db-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
});

export const clusterSnapshotParams = clusterParams.extend({
  snapshot: z
    .string()
    .regex(/^snapshot-[0-9a-f-]{36}$/)
    .meta({ description: "The snapshot's id.", example: "snapshot-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
});

export const schemaParams = clusterParams.extend({
  schema: z
    .string()
    .regex(/^schema-[0-9a-f-]{36}$/)
    .meta({ description: "The database's id.", example: "schema-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
});
