// A month's usage as a page for people, in 80 columns.
import type { UsageAmounts, UsagePage, UsageResource } from "../../sdk/index.ts";
import { table } from "../table.ts";

const HOUR_MS = 3_600_000;
const HOUR_SECONDS = 3_600;
const GIBIBYTE_MIB = 1_024;
const COMPUTE_UNIT_MIB = 4_096;
const MAX_NAME = 18;

const NOUNS = { caches: "cache", databases: "database", websockets: "websocket" } as const;

/** The resources of all pages, one a row, the totals, and what sleeping saved. */
export function usageText(pages: readonly UsagePage[]): string {
  const meta = pages.at(-1)?.meta;
  const usages = pages.flatMap(({ data }) => data);
  if (meta === undefined || usages.length === 0)
    return `Nothing existed in ${meta?.month ?? "that month"}.\n`;
  const rows = usages.map((usage) => rowOf(usage));
  const total = ["All", "", ...amountCells(meta.totals, "")];
  const lines = table([["NAME", "KIND", "AWAKE", "SIZE", "GB-HOURS", "DISK GB-H", "SAVED"], ...rows, total]);
  return [
    `Usage of ${meta.month}, in UTC\n`,
    `\n${lines}\n`,
    ...clientLines(usages, meta.totals),
    ...savedLines(meta.totals),
    ...(usages.some(isDeleted) ? ["A name with * belongs to a resource that is deleted.\n"] : []),
    ...(meta.totals.is_complete
      ? []
      : ["Events of this month are missing, so the figures may be too low.\n"]),
  ].join("");
}

function rowOf(usage: UsageResource): string[] {
  const { kind, totals, memory_mib: mebibytes } = usage.attributes;
  const size =
    totals.compute_unit_seconds === null ? memoryText(mebibytes) : `${mebibytes / COMPUTE_UNIT_MIB} CU`;
  const isCounted = mebibytes > 0;
  return [nameOf(usage), NOUNS[kind], ...amountCells(totals, isCounted ? size : "-")];
}

function nameOf(usage: UsageResource): string {
  const { name } = usage.attributes;
  const shown = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;
  return `${shown}${isDeleted(usage) ? " *" : ""}`;
}

/** Time awake, the size in between, memory and disk in gigabyte-hours, and the saved share. */
function amountCells(total: UsageAmounts, size: string): string[] {
  const share = savedShare(total);
  return [
    `${(total.awake_ms / HOUR_MS).toFixed(1)} h`,
    size,
    (total.awake_mib_seconds / GIBIBYTE_MIB / HOUR_SECONDS).toFixed(2),
    (total.storage_byte_hours / 1e9).toFixed(2),
    share === null ? "-" : `${share} %`,
  ];
}

function memoryText(mebibytes: number): string {
  return mebibytes < GIBIBYTE_MIB ? `${mebibytes} MB` : `${Number((mebibytes / GIBIBYTE_MIB).toFixed(2))} GB`;
}

/** The part of the size times the time that sleeping saved, in percent; null when nothing counts. */
function savedShare({ awake_mib_seconds: awake, saved_mib_seconds: saved }: UsageAmounts): number | null {
  return awake + saved === 0 ? null : Math.floor((100 * saved) / (awake + saved));
}

function savedLines(total: UsageAmounts): string[] {
  const share = savedShare(total);
  if (share === null || total.saved_mib_seconds === 0) return [];
  const gigabyteHours = (total.saved_mib_seconds / GIBIBYTE_MIB / HOUR_SECONDS).toFixed(2);
  return [`Sleeping saved ${gigabyteHours} GB-hours, ${share} % of always being awake.\n`];
}

/** A table of the resources that had clients; the sum of what each had at most says nothing of a moment. */
function clientLines(usages: readonly UsageResource[], total: UsageAmounts): string[] {
  const used = usages.filter(({ attributes: { totals } }) => totals.max_connections + messagesIn(totals) > 0);
  if (used.length === 0) return [];
  const rows = used.map((usage) => {
    const { kind, totals } = usage.attributes;
    const cells = [nameOf(usage), NOUNS[kind], String(totals.max_connections)];
    return cells.concat(messageCells(totals));
  });
  const heads = ["NAME", "KIND", "CLIENTS AT MOST", "MESSAGES RECEIVED", "MESSAGES SENT"];
  return [`${table([heads, ...rows, ["All", "", "", ...messageCells(total)]])}\n`];
}

function messageCells({ messages_received: received, messages_sent: sent }: UsageAmounts): string[] {
  return [received, sent].map((count) => (count === null ? "-" : String(count)));
}

function messagesIn({ messages_received: received, messages_sent: sent }: UsageAmounts): number {
  return (received ?? 0) + (sent ?? 0);
}

function isDeleted({ attributes }: UsageResource): boolean {
  return attributes.deleted_at !== null;
}
