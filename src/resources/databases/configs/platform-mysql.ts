// The `config` of platform MySQL.
import { z } from "zod";
import { isFlexible, platformSizes } from "../sizes.ts";
import {
  configVariant,
  isPublic,
  maintenanceWindow,
  retentionDays,
  sizeField,
  suspendSeconds,
} from "./variant.ts";

const schema = z.object({
  size: sizeField(platformSizes, {
    description: "How much memory and processor the cluster has; `db-*` are older names.",
    example: "mysql-flex-1gb",
  }),
  storage: z.int().min(5).max(1_000).meta({ description: "Gigabytes on disk.", example: 5 }),
  is_public: isPublic,
  uses_scheduled_snapshots: z.boolean().meta({
    description:
      "Whether a snapshot is taken each day, and kept for `retention_days`. Each second of these days can be restored too.",
    example: false,
  }),
  retention_days: retentionDays,
  maintenance_window: maintenanceWindow,
  storage_autoscale_max_gb: z.int().min(5).max(1_000).nullable().meta({
    description: "Gigabytes that the disk may grow to, not below `storage`; null is no growth.",
    example: 20,
  }),
  suspend_seconds: suspendSeconds(
    "Seconds without use after which the cluster sleeps; 0 is never. Only flex sizes can sleep.",
  ),
});

export type PlatformMysqlConfig = z.output<typeof schema>;

const defaults: PlatformMysqlConfig = {
  size: "mysql-flex-512mb",
  storage: 5,
  is_public: false,
  uses_scheduled_snapshots: false,
  retention_days: 0,
  maintenance_window: null,
  storage_autoscale_max_gb: null,
  suspend_seconds: 0,
};

export const platformMysql = configVariant({
  title: "MySQL",
  schema,
  defaults,
  faults({ size, storage, storage_autoscale_max_gb: growth, suspend_seconds: seconds }) {
    const isAwake = seconds === undefined || seconds === 0;
    const isGrowing = typeof growth === "number" && storage !== undefined;
    return {
      ...(!isAwake &&
        size !== undefined &&
        !isFlexible(size) && { suspend_seconds: "must be 0 unless the size is a flex size" }),
      ...(isGrowing && growth < storage && { storage_autoscale_max_gb: "must not be below storage" }),
    };
  },
});
