// The journal of a host: what happened to its instances, in the form of its file and of the answer to the control
// plane.
import * as z from "zod/mini";
import { wakeReasonSchema, wakeSpansSchema } from "./sleep.ts";

/** The events that a host sees; `GET /events` has them beside those of the control plane. */
export const hostEventTypes = [
  /** Its engine has a process; `restarted` after a crash. */
  "started",
  "restarted",
  /** The process has ended: by an order, or by itself. */
  "stopped",
  "crashed",
  "asleep",
  /** The instance was woken. */
  "awake",
  /** Its engine could not be started. */
  "failed",
  "out_of_memory",
  "disk_full",
  /** Records are missing, since the journal keeps only so many of an instance. */
  "gap",
] as const;

/** Sentences are cut to this length. */
export const MAX_REASON_LENGTH = 500;

const moment = z.iso.datetime();

export const journalRecordSchema = z.strictObject({
  /**
   * The number of the record. It rises, also over restarts of the host and over a loss of its latest records in a power
   * cut.
   */
  sequence: z.int(),
  /** The id of the instance. */
  id: z.string().check(z.maxLength(64)),
  /** When it happened, by the clock of the host. */
  at: moment,
  type: z.enum(hostEventTypes),
  details: z.strictObject({
    /** Why, as a sentence that may be shown to anyone. */
    reason: z.exactOptional(z.string().check(z.maxLength(MAX_REASON_LENGTH))),
    /** The end may have been as early as this, because the host was away. */
    not_before: z.exactOptional(moment),
    pid: z.exactOptional(z.int()),
    wake: z.exactOptional(z.strictObject({ reason: wakeReasonSchema, spansMs: wakeSpansSchema })),
    /** How many records are missing. */
    lost: z.exactOptional(z.int()),
  }),
});

/** An event of an instance, as a host recorded it. */
export type JournalRecord = z.infer<typeof journalRecordSchema>;

/** A process of an engine whose end has not been recorded. */
const openRunSchema = z.strictObject({ pid: z.int(), at: moment });

export type OpenRun = z.infer<typeof openRunSchema>;

/** The first line of the file; the others are records. */
export const journalHeadSchema = z.strictObject({
  version: z.literal(1),
  /** The highest sequence that was given. */
  sequence: z.int(),
  /** The processes that ran at that time, by instance. */
  open: z.record(z.string(), openRunSchema),
  /** The instances that do not sleep by the records, and whether a record says that their latest sleep has ended. */
  awake: z.exactOptional(z.record(z.string(), z.boolean())),
});

export const journalAnswerSchema = z.strictObject({
  version: z.literal(1),
  records: z.array(journalRecordSchema),
});
