// The backups of database clusters as the console knows them.
import type { BackupKind, Schedule } from "../../../console/parts/backups/backup-kind.ts";
import { client } from "../../../console/parts/client.ts";
import type { DatabaseClusterResource } from "../../../sdk/index.ts";
import { databaseKind } from "./kind.ts";

/** How long backups are kept when the schedule is turned on here. */
const RETENTION_DAYS = 7;

export const databaseBackups: BackupKind<DatabaseClusterResource> = {
  kind: databaseKind,
  snapshotType: "database_snapshots",
  partType: "databaseSchemas",
  command: "databases",
  scheduleOf,
  untilDeleted: async (id) => await client.databases.untilDeleted(id),
  readBackups: async (id) => (await client.databases.backups(id)).data,
  listSnapshots: (id) => client.databases.snapshots.all(id),
  createSnapshot: (id, body) => client.databases.snapshots.create(id, body),
  deleteSnapshot: (id) => client.databases.snapshots.delete(id),
  restore: (id, name, target) =>
    client.databases.restore(id, {
      name,
      ...("at" in target ? { restore_time: target.at } : { database_snapshot_id: target.snapshot }),
    }),
  clone: (id, name) => client.databases.clone(id, { name }),
  remove: (id) => client.databases.delete(id),
  purge: (id) => client.databases.purge(id),
};

function scheduleOf(cluster: DatabaseClusterResource): Schedule<DatabaseClusterResource> {
  const { config, connection } = cluster.attributes;
  const turnOn = (members: Record<string, unknown>) => () =>
    client.databases.update(cluster.id, { config: { ...members, retention_days: RETENTION_DAYS } });
  const ofInstants = {
    text: `With a window, each instant of the last ${RETENTION_DAYS} days can be restored, to the microsecond.`,
    label: `Keep each instant of ${RETENTION_DAYS} days`,
  };
  const ofDays = {
    text: `With a schedule, a backup is made every day and kept for ${RETENTION_DAYS} days.`,
    label: "Make a backup every day",
  };
  const gives = connection.driver === "pgsql" ? ofInstants : ofDays;
  if ("cu_max" in config) return { ...gives, isOn: config.retention_days > 0, turnOn: turnOn({}) };
  if ("uses_pitr" in config) {
    return { ...gives, isOn: config.uses_pitr, turnOn: turnOn({ uses_pitr: true }) };
  }
  return {
    ...gives,
    isOn: config.uses_scheduled_snapshots,
    turnOn: turnOn({ uses_scheduled_snapshots: true }),
  };
}
