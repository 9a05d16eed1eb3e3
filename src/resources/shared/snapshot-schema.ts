// The shapes of requests for a snapshot, and of a snapshot in an answer.
import { z } from "zod";
import { resourceIdentifier } from "../../api/jsonapi/jsonapi.ts";
import { snapshotStatuses, type SnapshotStatus } from "./backups/snapshots.ts";
import { createdAt } from "./fields.ts";

/** The body of a request for a snapshot. */
export const newSnapshot = z
  .object({
    name: z
      .string()
      .min(1)
      .max(100)
      .meta({ description: "Need not be unique.", example: "before-migration" }),
    description: z.string().min(3).max(40).optional().meta({
      description: "What the snapshot is for.",
      example: "orders without the new column",
    }),
  })
  .meta({ id: "NewSnapshot" });

/** The body as clients send it. */
export type NewSnapshotBody = z.input<typeof newSnapshot>;
export type { SnapshotStatus };

export type NewSnapshot = z.output<typeof newSnapshot>;

const moment = (description: string, example: string) =>
  z.iso
    .datetime()
    .nullable()
    .meta({ description, example, override: { pattern: undefined } });

const attributes = z
  .object({
    name: z
      .string()
      .nullable()
      .meta({ description: "Null for a scheduled snapshot.", example: "before-migration" }),
    description: z.string().nullable().meta({ example: "orders without the new column" }),
    type: z.enum(["manual", "scheduled"]).meta({
      description: "`scheduled` snapshots are taken and deleted by the schedule.",
      example: "manual",
    }),
    status: z.enum(snapshotStatuses).meta({
      id: "SnapshotStatus",
      description: "`failed` has its reason in `meta.last_error`; a snapshot that is deleted answers 404.",
      example: "available",
    }),
    storage_bytes: z.int().min(0).nullable().meta({
      description: "What it takes, compressed; null until it is available.",
      example: 4_718_592,
    }),
    pitr_enabled: z.boolean().nullable().meta({
      description: "Whether later instants can be restored from it, since the log is kept.",
      example: true,
    }),
    pitr_ends_at: moment("Until when it is kept for that.", "2026-03-22T08:18:53.204112Z"),
    completed_at: moment(
      "The moment that its data is from; null until it is available.",
      "2026-03-15T08:18:53.204112Z",
    ),
    created_at: createdAt.nullable(),
  })
  .meta({ id: "SnapshotAttributes" });

const meta = z
  .object({
    last_error: z
      .string()
      .nullable()
      .meta({ description: "Why it failed, or why the latest attempt to make it did.", example: null }),
    source: z
      .object({ id: z.string(), name: z.string(), type: z.string() })
      .meta({ description: "The instance as it was last; it may be deleted by now." }),
  })
  .meta({ id: "SnapshotMeta" });

const links = z.object({ self: z.object({ href: z.string() }) });

/** The members that the snapshots of every kind have. */
const common = { attributes, links, meta };

const id = z.string().meta({ example: "snapshot-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" });

/** A snapshot of a database cluster as answers show it. */
export const databaseSnapshotResource = z
  .object({
    id,
    type: z.literal("database_snapshots"),
    relationships: z.object({
      database: z
        .object({ data: resourceIdentifier("databases").nullable() })
        .meta({ description: "The cluster; null when it is deleted." }),
    }),
    ...common,
  })
  .meta({ id: "DatabaseSnapshot" });

/** A snapshot of a cache as answers show it. */
export const cacheSnapshotResource = z
  .object({
    id,
    type: z.literal("cache_snapshots"),
    relationships: z.object({
      cache: z
        .object({ data: resourceIdentifier("caches").nullable() })
        .meta({ description: "The cache; null when it is deleted." }),
    }),
    ...common,
  })
  .meta({ id: "CacheSnapshot" });

export type DatabaseSnapshotResource = z.output<typeof databaseSnapshotResource>;
export type CacheSnapshotResource = z.output<typeof cacheSnapshotResource>;
export type SnapshotAttributes = z.output<typeof attributes>;

/** The path parameters of one snapshot. */
export const snapshotParams = z.object({
  id: z
    .string()
    .regex(/^snapshot-[0-9a-f-]{36}$/)
    .meta({ description: "The snapshot's id.", example: "snapshot-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
});
