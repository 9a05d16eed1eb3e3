// The shapes of requests for a restore and for a clone.
import { z } from "zod";
import type { FieldErrors } from "../../api/jsonapi/errors.ts";
import { nameField } from "./fields.ts";
import { momentField } from "./moment-field.ts";
import { MASK_TIMEOUT_SECONDS, MAX_MASK_CHARACTERS } from "./mask-limits.ts";

const name = nameField("The name of the new resource; need not be unique.", "orders-restored");

const restoreTime = momentField("2026-03-15T08:00:00Z")
  .optional()
  .meta({
    description: "The instant whose state is restored, with up to microseconds.",
    example: "2026-03-15T08:18:53.204112Z",
    override: { pattern: undefined },
  });

const snapshotId = z.string().max(64).optional().meta({
  description: "The snapshot to restore.",
  example: "snapshot-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f",
});

/** The body of `POST /databases/clusters/:id/restore`. */
export const newDatabaseRestore = z
  .object({ name, restore_time: restoreTime, database_snapshot_id: snapshotId })
  .meta({
    id: "NewDatabaseRestore",
    description: "Exactly one of `restore_time` and `database_snapshot_id`.",
  });

export type NewDatabaseRestore = z.output<typeof newDatabaseRestore>;
export type NewDatabaseRestoreBody = z.input<typeof newDatabaseRestore>;

const mask = z
  .object({
    sql: z.string().min(1).max(MAX_MASK_CHARACTERS).meta({
      description:
        "Statements, with semicolons between them. They run as the cluster's own user, and again when Pilvi is killed meanwhile.",
      example: "truncate sessions; update users set email = 'user-' || id || '@example.com'",
    }),
    database: z.string().max(128).optional().meta({
      description: "The name of the database that they run in; the oldest when left out.",
      example: "main",
    }),
  })
  .optional()
  .meta({
    description: `SQL that masks or empties tables of the clone before anybody can log in. It takes ${MASK_TIMEOUT_SECONDS / 60} minutes at most, and an error makes the clone \`restore_failed\`. It is kept encrypted as long as the clone, and runs again at each refresh.`,
  });

/** The body of `POST /databases/clusters/:id/clone`. */
export const newDatabaseClone = z
  .object({ name, restore_time: restoreTime, mask })
  .meta({ id: "NewDatabaseClone" });

export type NewDatabaseClone = z.output<typeof newDatabaseClone>;
export type NewDatabaseCloneBody = z.input<typeof newDatabaseClone>;

/** The body of `POST /databases/clusters/:id/refresh`. */
export const databaseRefresh = z.object({ restore_time: restoreTime }).meta({ id: "DatabaseRefresh" });

export type DatabaseRefresh = z.output<typeof databaseRefresh>;
export type DatabaseRefreshBody = z.input<typeof databaseRefresh>;

/** The body of `POST /caches/:id/restore`. */
export const newCacheRestore = z
  .object({ name, cache_snapshot_id: snapshotId.unwrap() })
  .meta({ id: "NewCacheRestore" });

export type NewCacheRestore = z.output<typeof newCacheRestore>;

/** The body of `POST /caches/:id/clone`. */
export const newCacheClone = z.object({ name }).meta({ id: "NewCacheClone" });

export type NewCacheClone = z.output<typeof newCacheClone>;

/** The errors between the fields of a restore. */
export function checkDatabaseRestore(valid: Partial<NewDatabaseRestore>): FieldErrors {
  const { restore_time: time, database_snapshot_id: snapshot } = valid;
  if (time !== undefined && snapshot !== undefined) {
    const fault = "Give either restore_time or database_snapshot_id, not both.";
    return { restore_time: [fault], database_snapshot_id: [fault] };
  }
  if (time === undefined && snapshot === undefined)
    return { restore_time: ["The field restore_time or database_snapshot_id is required."] };
  return {};
}
