// The log of an environment, as the host returns it: entries of all its processes and of the edge, in one order.
import * as z from "zod/mini";
import { safeIdSchema } from "./safe-id.ts";
import { logLevels, MAX_MESSAGE_CHARACTERS, MAX_SLICE_LINES } from "./logs.ts";

export const environmentLogTypes = ["application", "exception", "access", "system"] as const;

export type EnvironmentLogType = (typeof environmentLogTypes)[number];

/** The most instances that a query names. */
export const MAX_LOG_INSTANCES = 50;

/** A position: segment and byte offset in the entries of processes, and the same in those of the edge. */
export const ENVIRONMENT_LOG_CURSOR = /^\d{1,12}(?:\.\d{1,12}){3}$/;

const cursorSchema = z.string().check(z.regex(ENVIRONMENT_LOG_CURSOR));

const environmentLogEntrySchema = z.strictObject({
  /** The position after the entry. */
  cursor: cursorSchema,
  at: z.iso.datetime(),
  level: z.enum(logLevels),
  type: z.enum(environmentLogTypes),
  message: z.string().check(z.maxLength(MAX_MESSAGE_CHARACTERS)),
  /** Null for an entry that no process has. */
  instance: z.nullable(z.string()),
  deployment: z.nullable(z.string()),
  data: z.nullable(z.record(z.string(), z.unknown())),
});

/** An entry of the log of an environment. */
export type EnvironmentLogEntry = z.infer<typeof environmentLogEntrySchema>;

export const environmentLogSliceSchema = z.strictObject({
  entries: z.array(environmentLogEntrySchema).check(z.maxLength(MAX_SLICE_LINES)),
  /** The position after everything that was examined. */
  next: cursorSchema,
  /** Whether the log has nothing further at present, or nothing that is early enough. */
  isEnd: z.boolean(),
  /** Whether entries after the cursor of the query are no longer kept. */
  hasGap: z.boolean(),
});

/** A part of the log of an environment, the oldest entry first. */
export type EnvironmentLogSlice = z.infer<typeof environmentLogSliceSchema>;

export const environmentLogQuerySchema = z.strictObject({
  cursor: z.exactOptional(cursorSchema),
  /** Without a cursor: the last entries that the query selects, this many of them. */
  tail: z.exactOptional(z.int().check(z.minimum(0), z.maximum(MAX_SLICE_LINES))),
  /** Milliseconds since 1970. */
  fromMs: z.exactOptional(z.int()),
  toMs: z.exactOptional(z.int()),
  /** All types when left out. */
  types: z.exactOptional(z.array(z.enum(environmentLogTypes))),
  text: z.exactOptional(z.string().check(z.maxLength(200))),
  isCaseSensitive: z.exactOptional(z.boolean()),
  isWholeWord: z.exactOptional(z.boolean()),
  instances: z.exactOptional(z.array(safeIdSchema).check(z.maxLength(MAX_LOG_INSTANCES))),
  deployment: z.exactOptional(safeIdSchema),
  limit: z.int().check(z.minimum(1), z.maximum(MAX_SLICE_LINES)),
  /** How long the answer is held while the log has nothing further. */
  waitMs: z.exactOptional(z.int().check(z.minimum(0), z.maximum(30_000))),
});

/** Selects entries of the log of an environment. */
export type EnvironmentLogQuery = z.infer<typeof environmentLogQuerySchema>;
