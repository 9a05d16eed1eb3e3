// The schedule of a cluster's backups, as its order has it.
import type { ArchiveSource } from "../../shared/backups/archives.ts";
import type { BackupPolicy } from "../../shared/backups/policy.ts";
import type { DatabaseConfig } from "../configs/index.ts";
import type { DatabaseClusterRow } from "../store.ts";
import { protocolOf, protocols, type DatabaseType } from "../types.ts";

/** The order of a cluster, as its archive keeps it. */
export interface DatabaseSource extends ArchiveSource {
  type: DatabaseType;
  engineName: DatabaseClusterRow["engineName"];
  version: string;
  config: DatabaseConfig;
}

type Order = Pick<DatabaseSource, "type" | "config">;

/** The order of a cluster. */
export function sourceOf(cluster: DatabaseClusterRow): DatabaseSource {
  const { name, type, region, engineName, version, config } = cluster;
  return { name, type, region, engineName, version, config };
}

/** The schedule; null for a cluster without scheduled backups. */
export function policyOf({ type, config }: Order): BackupPolicy | null {
  const { retention_days: retentionDays } = config;
  const startsAt = startIn("maintenance_window" in config ? config.maintenance_window : null);
  const { hasDailySnapshots: isDaily } = protocols[protocolOf(type)];
  const hasWindow = retentionDays > 0;
  // Without a window, there is nothing to keep but the latest snapshot of each day.
  return isAskedFor(config) && (hasWindow || isDaily)
    ? { keepsLog: hasWindow, isDaily, retentionDays, startsAt }
    : null;
}

function isAskedFor(config: DatabaseConfig): boolean {
  if ("uses_pitr" in config) return config.uses_pitr;
  return "uses_scheduled_snapshots" in config ? config.uses_scheduled_snapshots : true;
}

/** Whether the log of a cluster is kept, so that each instant can be restored. */
export function keepsLog(order: Order): boolean {
  return policyOf(order)?.keepsLog === true;
}

/** The config of a copy, which takes over neither the schedule nor the replicas. */
export function withoutSchedule(config: DatabaseConfig): DatabaseConfig {
  if ("cu_max" in config) return { ...config, retention_days: 0 };
  if ("uses_pitr" in config) {
    const alone = { deployment_option: "single-az", read_replicas: null } as const;
    return { ...config, ...alone, retention_days: 0, uses_pitr: false };
  }
  return { ...config, retention_days: 0, uses_scheduled_snapshots: false };
}

/** The time of the day at which a window such as `sun:06:00-sun:06:30` begins. */
function startIn(window: string | null): string | null {
  return window === null ? null : window.slice("sun:".length, "sun:06:00".length);
}
