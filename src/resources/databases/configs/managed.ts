// The `config` of the provider's managed databases, MySQL and Postgres alike.
import { z } from "zod";
import { managedSizes } from "../sizes.ts";
import { configVariant, isPublic, maintenanceWindow, retentionDays, sizeField } from "./variant.ts";

const schema = z.object({
  size: sizeField(managedSizes, {
    description: "How much memory and processor the cluster has.",
    example: "db.t4g.small",
  }),
  storage: z.int().min(20).max(65_536).meta({ description: "Gigabytes on disk.", example: 20 }),
  is_public: isPublic,
  uses_pitr: z.boolean().meta({
    description: "Whether any point in time shall be restorable; `supports_pitr` says whether it is.",
    example: false,
  }),
  retention_days: retentionDays,
  deployment_option: z.enum(["single-az", "single-az-with-read-replicas", "multi-az"]).meta({
    description: "The spread of copies over zones; one machine is a single zone with one copy.",
    example: "single-az",
  }),
  read_replicas: z
    .int()
    .min(0)
    .max(15)
    .nullable()
    .meta({ description: "How many copies for reading there shall be; null is none.", example: 1 }),
  maintenance_window: maintenanceWindow,
});

export type ManagedConfig = z.output<typeof schema>;

const defaults: ManagedConfig = {
  size: "db.t4g.micro",
  storage: 20,
  is_public: false,
  uses_pitr: false,
  retention_days: 0,
  deployment_option: "single-az",
  read_replicas: null,
  maintenance_window: null,
};

export const managed = configVariant({ title: "Managed database", schema, defaults });
