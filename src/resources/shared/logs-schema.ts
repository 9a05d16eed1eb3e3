// The shape of the log of an engine in answers.
import { z } from "zod";
import { LOG_CURSOR, logLevels, MAX_MESSAGE_CHARACTERS, MAX_SLICE_LINES } from "../../contracts/logs.ts";
import { moment } from "./resource-filter.ts";

export const MAX_QUERY_LENGTH = 200;

const entry = z
  .object({
    message: z.string().meta({
      description: `Without the time; cut after ${MAX_MESSAGE_CHARACTERS} characters.`,
      example: "[418] LOG:  database system is ready to accept connections",
    }),
    level: z.enum(logLevels).meta({ example: "info" }),
    type: z.enum(["engine", "system"]).meta({
      description:
        "`system` is a note of Pilvi's: a start of the engine, or that earlier lines are no longer kept.",
      example: "engine",
    }),
    logged_at: z.iso.datetime().nullable().meta({
      description:
        "That of the line before for a line without a time; null when that line is no longer kept.",
      example: "2026-03-15T08:18:00.123Z",
    }),
  })
  .meta({ id: "LogEntry" });

export type LogEntry = z.output<typeof entry>;

export const count = (most: number, description: string, example: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, "must be a whole number")
    .transform(Number)
    .refine((number) => number <= most, `may be ${most} at most`)
    .optional()
    .meta({ description, example, override: { type: "integer", minimum: 0, maximum: most } });

/** The query of a log. */
export const logsQuery = z.object({
  from: moment("Only lines of this time or later."),
  to: moment("Only lines before this time. The log ends at the first line of this time or later."),
  query: z
    .string()
    .max(MAX_QUERY_LENGTH)
    .optional()
    .meta({ description: "Only lines with this text, in whatever case.", example: "deadlock" }),
  cursor: z
    .string()
    .regex(LOG_CURSOR, "must be the cursor of an earlier answer")
    .optional()
    .meta({
      description: "Goes on where an earlier answer ended: its `meta.cursor`.",
      example: "5f0c3a9be1d2.18244.1773562733204",
      override: { pattern: undefined },
    }),
  tail: count(
    MAX_SLICE_LINES,
    "Begins with the last lines, this many of them, before they are filtered. Without `tail`, `from` and `cursor` it begins with the oldest line that is kept; a stream with the lines from now on.",
    100,
  ),
  per_page: count(MAX_SLICE_LINES, "How many lines at most; 500 when left out.", 500),
  follow: z.enum(["", "1", "true"]).optional().meta({
    description:
      "Keeps the answer open and sends each line as Server-Sent Event when it is written. A client goes on with `Last-Event-ID` or `cursor`.",
    example: "true",
  }),
});

export type LogsQuery = z.output<typeof logsQuery>;

/** The answer. */
export const logsDocument = z
  .object({
    data: z.array(entry),
    meta: z.object({
      cursor: z.string().meta({
        description:
          "The position after everything that was searched; lines that come later follow from here.",
        example: "5f0c3a9be1d2.18244.1773562733204",
      }),
      is_complete: z.boolean().meta({
        description:
          "Whether the log had nothing further. Otherwise ask again with the cursor, also after an empty page.",
        example: true,
      }),
    }),
  })
  .meta({ id: "Logs" });

export type LogsDocument = z.output<typeof logsDocument>;
