// The `config` of the provider's managed databases, MySQL and Postgres alike.
import { z } from "zod";
import { managedSizes } from "../sizes.ts";
import { configVariant, isPublic, maintenanceWindow, retentionDays, sizeField } from "./variant.ts";

/** So many replicas can a cluster have: each takes the memory of another cluster on the same machine. */
export const MAX_READ_REPLICAS = 5;

const ONE_MACHINE =
  "cannot be multi-az: all copies would be on this one machine, and its loss would be the loss of all";

const schema = z.object({
  size: sizeField(managedSizes, {
    description: "How much memory and processor the cluster has.",
    example: "db.t4g.small",
  }),
  storage: z.int().min(20).max(65_536).meta({ description: "Gigabytes on disk.", example: 20 }),
  is_public: isPublic,
  uses_pitr: z.boolean().meta({
    description:
      "Whether any point in time shall be restorable; `supports_pitr` says whether it is. A MySQL gets a snapshot a day.",
    example: false,
  }),
  retention_days: retentionDays,
  deployment_option: z
    .enum(["single-az", "single-az-with-read-replicas"], {
      error: ({ input }) => (input === "multi-az" ? ONE_MACHINE : undefined),
    })
    .meta({
      description:
        "Whether there are copies for reading, which a Postgres with `uses_pitr` can have; `multi-az` is refused, since one machine is a single zone.",
      example: "single-az",
    }),
  read_replicas: z
    .int()
    .min(0)
    .max(MAX_READ_REPLICAS)
    .nullable()
    .meta({ description: "How many copies for reading there are; null is none.", example: 1 }),
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

/** The days for which backups are kept where a request asks for them without saying how long. */
const PRESET_DAYS = 7;

/** @param hasLog whether the log of the engine is kept, which replicas are fed from. */
function managedWith(hasLog: boolean) {
  return configVariant({
    title: "Managed database",
    schema,
    defaults,
    faults: (given) => ({ ...windowFaults(given), ...replicaFaults(given, hasLog) }),
    preset: (given) => ({
      ...(given.uses_pitr === true ? { retention_days: PRESET_DAYS } : {}),
      ...replicaPreset(given),
    }),
  });
}

export const managedPostgres = managedWith(true);
export const managedMysql = managedWith(false);

function windowFaults({ uses_pitr: isOn, retention_days: days }: Partial<ManagedConfig>) {
  return isOn === true && days === 0 ? { retention_days: "must be at least 1 while uses_pitr is true" } : {};
}

function replicaFaults(given: Partial<ManagedConfig>, hasLog: boolean): Record<string, string> {
  const { deployment_option: option, read_replicas: count, uses_pitr: hasWindow } = given;
  const isWanted = option === "single-az-with-read-replicas";
  if (option === "single-az" && (count ?? 0) > 0)
    return { read_replicas: "must be null or 0 while deployment_option is single-az" };
  if (isWanted && (count === 0 || count === null))
    return { read_replicas: "must be at least 1 while deployment_option is single-az-with-read-replicas" };
  if (!isWanted && (count ?? 0) === 0) return {};
  const member = count === undefined ? "deployment_option" : "read_replicas";
  if (!hasLog)
    return { [member]: "is for a Postgres only: replicas of a MySQL cannot be fed from its backups" };
  if (hasWindow === true) return {};
  return {
    [member]: "needs uses_pitr with retention_days, since replicas are fed from the log of the backups",
  };
}

/** Either member alone asks for replicas. */
function replicaPreset({ deployment_option: option, read_replicas: count }: Partial<ManagedConfig>) {
  if (option === undefined && (count ?? 0) > 0)
    return { deployment_option: "single-az-with-read-replicas" as const };
  return option === "single-az-with-read-replicas" && count === undefined ? { read_replicas: 1 } : {};
}
