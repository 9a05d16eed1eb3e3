// The result of a verified restore: a backup was restored to a throw-away copy, and all of the copy was read.
import * as z from "zod/mini";
import { backupIdSchema } from "./keeper.ts";

const MAX_FAULTS = 100;

/** A count or a number of bytes. */
const amount = z.int().check(z.nonnegative());
const seconds = z.number().check(z.nonnegative());

export const verifiedRestoreSchema = z.strictObject({
  /** The backup that was restored; null when none could be chosen for the instant. */
  backup: z.nullable(backupIdSchema),
  /** The moment that the restored data is from; null when that is not known. */
  at: z.nullable(z.iso.datetime()),
  /** What the restore read: the stream of the backup and its log. */
  bytes: amount,
  /** From the beginning until an engine could start with the data. The restore yields to all else on the machine. */
  restoreSeconds: seconds,
  /** How long the check of the restored data took. */
  checkSeconds: seconds,
  /** How many relations, tables or keys were read. */
  checked: amount,
  /** Whether all data was read before the time for it was over. */
  isComplete: z.boolean(),
  /** What is wrong, as sentences for the customer; none when all is well. */
  faults: z.array(z.string()).check(z.maxLength(MAX_FAULTS)),
});

/** A restore that was tried and checked. */
export type VerifiedRestore = z.infer<typeof verifiedRestoreSchema>;
