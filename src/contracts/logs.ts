// The log of an engine, as the host returns it: lines with their times and levels, in slices of bounded size.
import * as z from "zod/mini";

export const logLevels = ["debug", "info", "warning", "error"] as const;

export type LogLevel = (typeof logLevels)[number];

/** Longer messages are cut. */
export const MAX_MESSAGE_CHARACTERS = 8_192;

/** The most lines of a slice. */
export const MAX_SLICE_LINES = 1_000;

/** A position in a log: the identity of its file, a byte offset, and the time of the line before in milliseconds. */
export const LOG_CURSOR = /^[0-9a-f]{1,12}\.\d{1,15}\.\d{1,15}$/;

const cursorSchema = z.string().check(z.regex(LOG_CURSOR));

const logLineSchema = z.strictObject({
  /** The position after the line. */
  cursor: cursorSchema,
  /** ISO 8601; that of an earlier line for a line without a time. Null when no earlier line is known. */
  at: z.nullable(z.string()),
  level: z.enum(logLevels),
  /** Whether the host wrote the line into the log, such as the mark of a start. */
  isNote: z.boolean(),
  message: z.string(),
});

/** A line of an engine's log. */
export type LogLine = z.infer<typeof logLineSchema>;

export const logSliceSchema = z.strictObject({
  lines: z.array(logLineSchema).check(z.maxLength(MAX_SLICE_LINES)),
  /** The position after everything that was examined. */
  next: cursorSchema,
  /** Whether the log has nothing further at present, or nothing that is early enough. */
  isEnd: z.boolean(),
  /** Whether lines after the cursor of the query are no longer kept. */
  hasGap: z.boolean(),
});

/** A part of a log, the oldest line first. */
export type LogSlice = z.infer<typeof logSliceSchema>;

export const logQuerySchema = z.strictObject({
  /** Where to go on. An unknown position counts as the beginning of what is kept. */
  cursor: z.exactOptional(cursorSchema),
  /** Without a cursor: begins with the last lines, this many of them. */
  tail: z.exactOptional(z.int().check(z.minimum(0), z.maximum(MAX_SLICE_LINES))),
  /** Milliseconds since 1970; earlier lines are left out. */
  fromMs: z.exactOptional(z.int()),
  /** Milliseconds since 1970; the first line of this time or later ends the log. */
  toMs: z.exactOptional(z.int()),
  /** Lines without this text are left out; its case does not matter. */
  text: z.exactOptional(z.string().check(z.maxLength(200))),
  limit: z.int().check(z.minimum(1), z.maximum(MAX_SLICE_LINES)),
  /** How long the answer is held while the log has nothing further. */
  waitMs: z.exactOptional(z.int().check(z.minimum(0), z.maximum(30_000))),
});

/** Selects lines of a log. */
export type LogQuery = z.infer<typeof logQuerySchema>;
