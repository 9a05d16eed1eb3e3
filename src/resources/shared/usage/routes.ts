// `GET /usage`: what the organization's resources used in a month, by resource and by day.
import { z } from "zod";
import { filterQuery } from "../../../api/jsonapi/filters.ts";
import { JSON_API, listDocument } from "../../../api/jsonapi/jsonapi.ts";
import { pageDocument, pageOf, pageQuery } from "../../../api/jsonapi/pagination.ts";
import { CSV, operation, type Operation } from "../../../api/operation/operation.ts";
import type { Database } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { resourceFilter } from "../resource-filter.ts";
import { usageKinds, usageMeta, usageResource, type UsageResource } from "../usage-schema.ts";
import { csvRow, csvStream } from "./csv.ts";
import { readDays, readResources, readTotals, type UsageDay, type UsageFilter } from "./read.ts";
import { renderDay, renderUsage, totalOf, type ComputeUnits } from "./render.ts";
import { rollUp } from "./roll-up.ts";

/** Resources in one part of a table. */
const CSV_RESOURCES = 100;

const MONTH = /^20\d\d-(0[1-9]|1[0-2])$/;

const query = z.object({
  month: z
    .string()
    .regex(MONTH, "must be a month such as 2026-11")
    .optional()
    .meta({
      description: "The month in UTC; the present one when left out.",
      example: "2026-11",
      override: { pattern: undefined },
    }),
  ...resourceFilter("usage"),
  ...filterQuery({ kind: usageKinds }),
  ...pageQuery,
  format: z.enum(["json", "csv"]).optional().meta({
    description: "`csv` is the same as the header `Accept: text/csv`.",
    example: "json",
  }),
});

type Query = z.output<typeof query>;

const page = listDocument(usageResource).omit({ included: true });

/** The operation. @param units the compute units of all kinds. */
export function usageOperation({ db }: KindContext, units: ComputeUnits): Operation {
  return operation({
    method: "GET",
    path: "/usage",
    operationId: "getUsage",
    tag: "Usage",
    summary: "Get the usage of a month",
    description:
      "Every resource that existed in the month, also those that are deleted by now, the oldest first: time awake, time asleep, size, storage, connections and messages, by day in UTC, with totals. It is made from events, and exact to the millisecond over restarts and crashes. As a table in CSV it has no pages.",
    ability: "usage:read",
    query,
    success: {
      status: 200,
      description: "A page of the month's resources, or a table with a row for each resource and day.",
      schema: page.extend({ meta: page.shape.meta.extend(usageMeta.shape) }),
      contentType: JSON_API,
      csv: "A row for each resource and day below a row with the names of the columns.",
    },
    async handle({ principal, query: asked, url, accept }) {
      const { organizationId } = principal;
      const { month, filter } = monthOf(asked, organizationId);
      await rollUp(db, { organizationId });
      if (isTable(asked, accept)) return tableOf(db, filter, month, units);
      const wanted = pageOf(asked);
      const { total, usages, days } = await readPage(db, filter, units, wanted);
      const document = pageDocument(url, wanted, total, usages);
      const rendered = days.map((day) => renderDay(day));
      const sums = totalOf(rendered, rendered.some(hasMessages), false);
      return { document: { ...document, meta: { ...document.meta, month, totals: sums, days: rendered } } };
    },
  });
}

function hasMessages({ messages_sent: messages }: { messages_sent: number | null }): boolean {
  return messages !== null;
}

function monthOf(asked: Query, organizationId: string): { month: string; filter: UsageFilter } {
  const month = asked.month ?? new Date().toISOString().slice(0, 7);
  const [year = 0, number = 1] = month.split("-").map(Number);
  const kinds = asked["filter[kind]"];
  return {
    month,
    filter: {
      organizationId,
      kinds: kinds === undefined || kinds.length === 0 ? null : kinds,
      resourceIds: asked["filter[resource]"] ?? null,
      fromMs: Date.UTC(year, number - 1),
      untilMs: Date.UTC(year, number),
    },
  };
}

function isTable({ format }: Query, accept: string): boolean {
  if (format !== undefined) return format === "csv";
  const types = accept.split(",").map((type) => type.split(";")[0]?.trim().toLowerCase());
  return types.includes(CSV) && !types.some((type) => type?.endsWith("json"));
}

/** Reads in one snapshot, or a count between the statements would be added twice. */
async function readPage(
  db: Database,
  filter: UsageFilter,
  units: ComputeUnits,
  { number, size }: { number: number; size: number },
): Promise<{ usages: UsageResource[]; total: number; days: UsageDay[] }> {
  return await db.begin("isolation level repeatable read, read only", async (tx) => {
    const { rows, total } = await readResources(tx, filter, { offset: (number - 1) * size, limit: size });
    const ids = rows.map(({ id }) => id);
    const days = await readDays(tx, filter, ids);
    return {
      usages: rows.map((row) => renderUsage(row, days.get(row.id) ?? [], units)),
      total,
      days: await readTotals(tx, filter),
    };
  });
}

const COLUMNS = [
  "awake_ms",
  "uncertain_ms",
  "asleep_ms",
  "awake_mib_seconds",
  "saved_mib_seconds",
  "compute_unit_seconds",
  "storage_byte_hours",
  "max_connections",
  "messages_received",
  "messages_sent",
  "is_complete",
] as const;

function tableOf(db: Database, filter: UsageFilter, month: string, units: ComputeUnits) {
  return {
    stream: csvStream(tableParts(db, filter, units)),
    streamType: `${CSV}; charset=utf-8; header=present`,
    headers: {
      "Cache-Control": "no-store",
      "Content-Disposition": `attachment; filename="usage-${month}.csv"`,
    },
  };
}

async function* tableParts(
  db: Database,
  filter: UsageFilter,
  units: ComputeUnits,
): AsyncGenerator<string, void> {
  yield csvRow(["day", "resource_id", "kind", "type", "name", ...COLUMNS]);
  for (let offset = 0; ; offset += CSV_RESOURCES) {
    const part = await db.begin("isolation level repeatable read, read only", async (tx) => {
      const { rows } = await readResources(tx, filter, { offset, limit: CSV_RESOURCES });
      const ids = rows.map(({ id }) => id);
      const days = await readDays(tx, filter, ids);
      return rows.map((row) => renderUsage(row, days.get(row.id) ?? [], units));
    });
    yield part.map(rowsOf).join("");
    if (part.length < CSV_RESOURCES) return;
  }
}

function rowsOf({ id, attributes: { kind, type, name, days } }: UsageResource): string {
  return days
    .map((day) => csvRow([day.day, id, kind, type, name, ...COLUMNS.map((column) => day[column])]))
    .join("");
}
