// The interface of the keeper, which stores backups, for the host: facts of backups, states of archives, restore plans.
import * as z from "zod/mini";
import { engineNameSchema } from "./engine-names.ts";

/** An instant in ISO 8601 and UTC, with up to microseconds. */
const instant = z.iso.datetime();

/** A count or a number of bytes. */
const amount = z.int().check(z.nonnegative());

/** The id of an instance or of a backup. Objects are named after it, so it is a safe name of a folder. */
const id = z.string().check(z.regex(/^[a-z0-9][a-z0-9-]{0,63}$/));

/**
 * A position in the log of a Postgres, such as `0/3000148`. In the log of a MariaDB, the number of a file and a byte in it
 * that are written in the same way.
 */
const lsn = z.string().check(z.regex(/^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/));

/**
 * A file of the log of a Postgres: timeline and position, in 24 hexadecimal digits. A file of the log of a MariaDB is cut
 * into segments: 8 digits each for the time at which the log was begun, the number of the file, and that of the segment.
 */
const segment = z.string().check(z.regex(/^[0-9A-F]{24}$/));

/** Postgres has segments of 1 MiB to 1 GiB, a power of two. */
const segmentBytes = z.int().check(z.minimum(1_048_576), z.maximum(1_073_741_824), z.multipleOf(1_048_576));

/** That of all logs that Pilvi makes. */
const SEGMENT_BYTES = 4_194_304;

const names = z.array(z.string().check(z.maxLength(256))).check(z.maxLength(100_000));

export const archiveIdSchema = id;
export const backupIdSchema = id;

/** A segment of a log, or the history of a timeline. */
export const logFileSchema = z.string().check(z.regex(/^[0-9A-F]{24}$|^[0-9A-F]{8}\.history$/));

const archiveEngineSchema = z.strictObject({
  name: engineNameSchema,
  /** The part of the version that an instance keeps for life, such as `17` for Postgres. */
  major: z.string().check(z.maxLength(100)),
  version: z.string().check(z.maxLength(100)),
});

/** The engine whose data an archive has. */
export type ArchiveEngine = z.infer<typeof archiveEngineSchema>;

const postgresFactsSchema = z.strictObject({
  timeline: z.int().check(z.positive()),
  /** The replay of the log begins here. */
  startLsn: lsn,
  /** The data is consistent once the log is replayed up to here. */
  endLsn: lsn,
  /** The first segment that a restore needs. */
  startSegment: segment,
  segmentBytes,
  /** The file `backup_label`, byte for byte; null for the copy of a stopped Postgres. */
  label: z.nullable(z.string().check(z.maxLength(65_536))),
  /** The latest checkpoint of a stopped Postgres, which its log ends with; null for a running one. */
  checkpointLsn: z.nullable(lsn),
});

const mysqlFactsSchema = z.strictObject({
  /** When the log was begun, in seconds since 1970: a log that is turned on again begins anew. */
  timeline: z.int().check(z.positive()),
  /** The replay of the log begins here. */
  startLsn: lsn,
  /** The first segment that a restore of an instant needs: the beginning of that file. */
  startSegment: segment,
  segmentBytes,
  /** A whole second: all that the copy has was committed before it. */
  endedAt: instant,
});

/** Where the log of a MariaDB goes on after a backup. */
export type MysqlFacts = z.infer<typeof mysqlFactsSchema>;

const facts = {
  engine: archiveEngineSchema,
  /** The form of the stream. */
  format: z.enum(["tar", "mbstream"]),
  /** Made from a running engine. */
  isHot: z.boolean(),
  /** The bytes of the data that was copied. */
  dataBytes: amount,
  /** The users and databases that the data contains. */
  users: names,
  databases: names,
  startedAt: instant,
  /** The moment that the copy is consistent at. */
  completedAt: instant,
  postgres: z.nullable(postgresFactsSchema),
  /** Left out for a backup of a MariaDB without a log, of which no later instant can be reached. */
  mysql: z.exactOptional(mysqlFactsSchema),
};

export const backupFactsSchema = z.strictObject(facts);

/** The facts about a backup, as the host learns them while it makes it. */
export type BackupFacts = z.infer<typeof backupFactsSchema>;

const stored = {
  /** The number of objects that its stream was cut into. */
  partCount: amount,
  /** The bytes of its stream. */
  plainBytes: amount,
  /** The bytes of its objects at one target: compressed and encrypted. */
  storedBytes: amount,
};

export const storedStreamSchema = z.strictObject(stored);

/** A stream that is stored as a whole, and is no backup yet. */
export type StoredStream = z.infer<typeof storedStreamSchema>;

export const backupInfoSchema = z.strictObject({ ...facts, id, archive: id, ...stored });

/** A complete backup. */
export type BackupInfo = z.infer<typeof backupInfoSchema>;

export const watermarkSchema = z.strictObject({
  /** All that was committed before this instant is in the archive. */
  at: instant,
  segment,
  /** How far the log is in the archive: where its last whole record begins, or for a MariaDB the end of it. */
  lsn,
});

/** How far the log is in the archive. */
export type Watermark = z.infer<typeof watermarkSchema>;

export const logStateSchema = z.strictObject({
  timeline: z.int().check(z.positive()),
  /** The oldest segment that is in the archive. */
  firstSegment: segment,
  watermark: watermarkSchema,
  /** The earliest instant that can be restored; null when there is none. */
  earliestRestoreTime: z.nullable(instant),
  /** Where segments are missing: between the segment `after` and the segment `before`. */
  gaps: z.array(z.strictObject({ after: segment, before: segment })),
  /** The age of the oldest change that is not in the archive; 0 when all is there. */
  lagSeconds: z.number().check(z.nonnegative()),
  /** The bytes since the newest backup, of a log whose positions do not say so: that of a MariaDB. */
  bytesSinceBackup: z.exactOptional(amount),
});

/** The log of a database in its archive. */
export type LogState = z.infer<typeof logStateSchema>;

export const archiveStateSchema = z.strictObject({
  id,
  /** Null until an announcement or a backup names it. */
  engine: z.nullable(archiveEngineSchema),
  /** The complete backups, the oldest first by `completedAt`. */
  backups: z.array(backupInfoSchema),
  log: z.nullable(logStateSchema),
  /** The bytes of all its objects at one target. */
  storedBytes: amount,
  /** Why the latest attempt to store or ship failed, as a sentence for the operator; null when all is well. */
  lastError: z.nullable(z.string()),
});

/** An archive: all backups of one instance, and its log. */
export type ArchiveState = z.infer<typeof archiveStateSchema>;

export const archiveStatesSchema = z.array(archiveStateSchema);

/** A line of `/archives/watch`: the state of each archive, then `synced`, then each state that has changed. */
export const archiveWatchLineSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("archive"), archive: archiveStateSchema }),
  z.strictObject({ type: z.literal("synced") }),
  z.strictObject({ type: z.literal("removed"), id }),
]);

export type ArchiveWatchLine = z.infer<typeof archiveWatchLineSchema>;

export const announcementSchema = z.strictObject({
  engine: archiveEngineSchema,
  /** Null for an instance whose log is not shipped. */
  log: z.nullable(
    z.strictObject({
      /** The absolute path of the log, which the keeper may read through its group. */
      folder: z.string().check(z.startsWith("/"), z.maxLength(4_096)),
      /** Whether an engine may write to the log now. */
      isAwake: z.boolean(),
      /** All logs have the same: the keeper holds whole segments in memory. */
      segmentBytes: z.int().check(z.minimum(SEGMENT_BYTES), z.maximum(SEGMENT_BYTES)),
      /** Left out for the log of a Postgres. */
      format: z.exactOptional(z.literal("binlog")),
    }),
  ),
});

/** The body of `PUT /archives/:id`: the instance exists, and this is where its log is. */
export type Announcement = z.infer<typeof announcementSchema>;

export const restoreTargetSchema = z.union([
  z.strictObject({ backup: id }),
  z.strictObject({ at: instant }),
  z.strictObject({ latest: z.literal(true) }),
]);

/** What to restore: the state of a backup, of an instant, or the latest that the archive has. */
export type RestoreTarget = z.infer<typeof restoreTargetSchema>;

export const restorePlanSchema = z.strictObject({
  backup: backupInfoSchema,
  recovery: z.discriminatedUnion("kind", [
    /** Up to the point at which the backup is consistent. */
    z.strictObject({ kind: z.literal("immediate") }),
    /** Up to an instant; the replay must reach this position, or something is missing. */
    z.strictObject({
      kind: z.literal("time"),
      at: instant,
      mustReachLsn: lsn,
      /** No transaction in the segments ended later than the instant, so all of them is replayed. Left out when not known. */
      isWholeLog: z.exactOptional(z.literal(true)),
    }),
  ]),
  /** The segments and timeline histories that the restore needs, the oldest first. */
  segments: z.array(
    z.strictObject({
      name: logFileSchema,
      isPartial: z.boolean(),
    }),
  ),
  /** The bytes of the backup's stream and of all segments. */
  totalBytes: amount,
});

/** How a restore target is reached. */
export type RestorePlan = z.infer<typeof restorePlanSchema>;

const planRefusalCodeSchema = z.enum([
  "unknown_backup",
  "too_early",
  "too_late",
  "gap",
  "damaged",
  "wrong_key",
]);

/** Why there is no plan. */
export type PlanRefusalCode = z.infer<typeof planRefusalCodeSchema>;

/** The body of a 409 answer to `POST /archives/:id/plan`; the sentence may be shown to anyone. */
export const planRefusalSchema = z.strictObject({ code: planRefusalCodeSchema, message: z.string() });

export type PlanRefusal = z.infer<typeof planRefusalSchema>;

export const retentionSchema = z.strictObject({
  /** Instants from here on stay restorable; null keeps the log from the newest backup on alone. */
  keepFrom: z.nullable(instant),
  keepBackups: z.array(id).check(z.maxLength(10_000)),
  /** The instance has other data now: its log so far is deleted, and the log to come goes on after no backup so far. */
  endsLog: z.exactOptional(z.literal(true)),
});

/** The body of `POST /archives/:id/retain`: all else may be deleted. */
export type Retention = z.infer<typeof retentionSchema>;

/** What retention has deleted. */
const retainedSchema = z.strictObject({ deletedBackups: z.array(id), deletedSegments: amount });

export type Retained = z.infer<typeof retainedSchema>;

/** A line of `POST /check`: each damaged or unreadable object, how far the check is, and last the sum. */
export const checkLineSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("fault"), target: z.string(), name: z.string(), message: z.string() }),
  z.strictObject({ type: z.literal("progress"), objects: amount, bytes: amount }),
  z.strictObject({ type: z.literal("sum"), objects: amount, bytes: amount, faults: amount }),
]);

export type CheckLine = z.infer<typeof checkLineSchema>;
