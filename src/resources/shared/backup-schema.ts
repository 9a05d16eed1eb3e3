// The shapes of backups in answers: what of an instance can be restored, and how far a restore is.
import { z } from "zod";
import { listDocument } from "../../api/jsonapi/jsonapi.ts";

const moment = (description: string, example = "2026-03-15T08:18:53.204112Z") =>
  z.iso
    .datetime()
    .nullable()
    .meta({ description, example, override: { pattern: undefined } });

const bytes = (description: string, example: number) => z.int().min(0).meta({ description, example });

const seconds = (description: string, example: number) =>
  z.number().min(0).nullable().meta({ description, example });

const verified = {
  verified_at: moment("When a restore was last verified without a fault; null before the first."),
  verified_restore_seconds: seconds("How long that restore took, behind all else on the machine.", 4.2),
};

/** The member `backup` of a resource's `meta`. */
export const backupField = z
  .object({
    lag_seconds: z.number().min(0).nullable().meta({
      description: "The age of the oldest change that is not backed up; null without a log.",
      example: 0,
    }),
    latest_restore_time: moment("The latest instant that can be restored; null without a log."),
    last_backup_at: moment("The moment that the newest backup is from; null before the first."),
    stored_bytes: bytes("What all its backups take, compressed.", 12_582_912),
    ...verified,
    last_error: z.string().nullable().meta({
      description:
        "Why backups cannot be stored at the moment, or what the latest verified restore found; null when all is well.",
      example: null,
    }),
  })
  .nullable()
  .meta({ id: "BackupState", description: "The backups; null while there are none." });

export type BackupState = z.output<typeof backupField>;

/** The member `restore` of a resource's `meta`. */
export const restoreField = z
  .object({
    done_bytes: bytes("How much is there.", 104_857_600),
    total_bytes: bytes("How much there will be.", 209_715_200),
    estimate_seconds: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: "How long the rest will take; null while that is not known.", example: 4 }),
  })
  .nullable()
  .meta({ id: "RestoreProgress", description: "How far the restore is; null when none is under way." });

export type RestoreProgress = z.output<typeof restoreField>;

/** The member `origin` of a resource's `meta`. */
export const originField = z
  .object({
    source: z.string().meta({
      description: "The id of the instance that the data is from.",
      example: "db-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f",
    }),
    snapshot: z.string().nullable().meta({ description: "The snapshot that was restored.", example: null }),
    restore_time: moment("The instant that was restored."),
  })
  .nullable()
  .meta({
    id: "Origin",
    description: "Where its first data is from; null for an instance that began empty.",
  });

export type OriginState = z.output<typeof originField>;

const window = z
  .object({
    earliest: z.iso
      .datetime()
      .meta({ example: "2026-03-08T08:18:53.204112Z", override: { pattern: undefined } }),
    latest: z.iso
      .datetime()
      .meta({ example: "2026-03-15T08:18:53.204112Z", override: { pattern: undefined } }),
  })
  .nullable()
  .meta({ description: "Each instant of it can be restored, except in gaps; null without a log." });

const summary = {
  window,
  lag_seconds: z.number().min(0).nullable(),
  stored_bytes: bytes("What all backups and the log take, compressed.", 12_582_912),
  last_backup_at: moment("The moment that the newest backup is from; null before the first."),
  ...verified,
  last_error: z.string().nullable(),
};

const verification = z
  .object({
    ended_at: moment("When it ended; null before the first."),
    backup: z.string().nullable().meta({ description: "The backup that was restored.", example: null }),
    restore_time: moment("The moment that the restored data was from."),
    bytes: bytes("What the restore read.", 8_388_608),
    restore_seconds: seconds("How long the restore took.", 4.2),
    check_seconds: seconds("How long the check of the restored data took.", 1.8),
    checked: z.int().min(0).meta({ description: "How many tables and indexes, or keys, were read." }),
    is_complete: z.boolean().meta({ description: "Whether all data was read." }),
    faults: z.array(z.string()).meta({ description: "What is wrong; empty when all is well." }),
    last_error: z.string().nullable().meta({
      description: "Why a later attempt had no result; null when there was none.",
      example: null,
    }),
  })
  .meta({ id: "BackupVerification", description: "The latest verified restore." });

const backup = z
  .object({
    id: z.string().meta({
      description: "The id of its snapshot.",
      example: "snapshot-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f",
    }),
    completed_at: z.iso
      .datetime()
      .meta({ description: "The moment that its data is from.", override: { pattern: undefined } }),
    is_hot: z.boolean().meta({ description: "Whether it was made from a running engine." }),
    engine: z.object({ name: z.string(), version: z.string() }),
    databases: z.array(z.string()).meta({ description: "The databases in it." }),
    data_bytes: bytes("The data that was copied.", 41_943_040),
    stored_bytes: bytes("What it takes, compressed.", 4_718_592),
  })
  .meta({ id: "Backup" });

/** The answer of `GET …/backups` of one instance. */
export const backupsDocument = z.object({
  data: z
    .object({
      ...summary,
      backups: z.array(backup),
      gaps: z.array(z.object({ after: z.string(), before: z.string() })).meta({
        description: "Parts of the log that are missing; instants after a gap need a later backup.",
      }),
      verification,
    })
    .meta({ id: "Backups" }),
});

export type BackupsDocument = z.output<typeof backupsDocument>;

/** The answer of `GET /backups/store`. */
export const storeBackupsDocument = z.object({ data: backupsDocument.shape.data.nullable() });

export type StoreBackupsDocument = z.output<typeof storeBackupsDocument>;

const archive = z
  .object({
    id: z
      .string()
      .meta({ description: "The id of the instance.", example: "db-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("archives"),
    attributes: z.object({
      kind: z.enum(["caches", "databases"]),
      name: z.string().meta({ example: "orders" }),
      deleted_at: moment("When the instance was deleted; null while it exists."),
      snapshots: z.int().min(0).meta({ description: "The number of complete backups.", example: 8 }),
      ...summary,
    }),
  })
  .meta({ id: "Archive", description: "All backups of one instance, which may be deleted by now." });

/** The answer of `GET /backups`. */
export const archivesDocument = listDocument(archive).omit({ included: true });

export type ArchiveResource = z.output<typeof archive>;
