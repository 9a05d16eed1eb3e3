// Renders the usage of resources for an answer.
import { INSTANCE_KINDS } from "../instance-kinds.ts";
import type { UsageAmounts, UsageDayDocument, UsageResource } from "../usage-schema.ts";
import type { UsageDay, UsageResourceRow } from "./read.ts";

const MEBIBYTE = 1024 ** 2;

/** The memory of a compute unit in bytes, by the types that are ordered in compute units. */
export type ComputeUnits = Readonly<Record<string, number>>;

/** The resource object of a usage. */
export function renderUsage(
  row: UsageResourceRow,
  days: readonly UsageDay[],
  units: ComputeUnits,
): UsageResource {
  const { id, kind, type, name, createdAt, deletedAt, memoryBytes } = row;
  const documents = days.map((day) => renderDay(day, units[type]));
  return {
    id,
    type: "usages",
    attributes: {
      kind,
      type,
      name,
      created_at: createdAt,
      deleted_at: deletedAt,
      memory_mib: Math.round(memoryBytes / MEBIBYTE),
      totals: totalOf(documents, kind === "websockets", units[type] !== undefined),
      days: documents,
    },
    relationships: { resource: { data: { type: INSTANCE_KINDS[kind].type, id } } },
  };
}

/** @param unitBytes the memory of a compute unit; undefined for what is not ordered in compute units. */
export function renderDay(day: UsageDay, unitBytes?: number): UsageDayDocument {
  const perUnit = unitBytes === undefined ? null : unitBytes / MEBIBYTE;
  return {
    day: day.day,
    awake_ms: day.awakeMs,
    uncertain_ms: day.uncertainMs,
    asleep_ms: day.asleepMs,
    awake_mib_seconds: day.awakeMibSeconds,
    saved_mib_seconds: day.asleepMibSeconds,
    compute_unit_seconds: perUnit === null ? null : Math.floor(day.awakeMibSeconds / perUnit),
    storage_byte_hours: day.storageByteHours,
    max_connections: day.connections,
    messages_received: day.messagesReceived,
    messages_sent: day.messagesSent,
    is_complete: day.isComplete,
  };
}

/**
 * The sums of days, and the most connections of any day.
 * @param isServer whether messages are counted at all.
 * @param hasUnits whether compute units are counted.
 */
export function totalOf(days: readonly UsageAmounts[], isServer: boolean, hasUnits: boolean): UsageAmounts {
  const sum = (name: Exclude<keyof UsageAmounts, "is_complete">) =>
    days.reduce((all, day) => all + (day[name] ?? 0), 0);
  const ofServers = (value: number) => (isServer ? value : null);
  return {
    awake_ms: sum("awake_ms"),
    uncertain_ms: sum("uncertain_ms"),
    asleep_ms: sum("asleep_ms"),
    awake_mib_seconds: sum("awake_mib_seconds"),
    saved_mib_seconds: sum("saved_mib_seconds"),
    compute_unit_seconds: hasUnits ? sum("compute_unit_seconds") : null,
    storage_byte_hours: sum("storage_byte_hours"),
    max_connections: Math.max(0, ...days.map((day) => day.max_connections)),
    messages_received: ofServers(sum("messages_received")),
    messages_sent: ofServers(sum("messages_sent")),
    is_complete: days.every((day) => day.is_complete),
  };
}
