// The shape of the log of an environment in questions and answers.
import { z } from "zod";
import {
  ENVIRONMENT_LOG_CURSOR,
  environmentLogTypes,
  MAX_LOG_INSTANCES,
} from "../../../contracts/environment-logs.ts";
import { logLevels, MAX_MESSAGE_CHARACTERS, MAX_SLICE_LINES } from "../../../contracts/logs.ts";
import { count, MAX_QUERY_LENGTH } from "../../shared/logs-schema.ts";
import { moment } from "../../shared/resource-filter.ts";

const nullableText = z.string().nullable();

const entry = z
  .object({
    message: z.string().meta({
      description: `Without the time; cut after ${MAX_MESSAGE_CHARACTERS} characters.`,
      example: "GET /checkout 200",
    }),
    level: z.enum(logLevels).meta({ example: "info" }),
    type: z.enum(environmentLogTypes).meta({
      description:
        "`application` is a line of a process, `exception` an error with its trace, `access` a request at the address, `system` a note of Pilvi's.",
      example: "access",
    }),
    logged_at: z.iso.datetime().meta({
      description: "When it was written, or else read. Entries are in this order.",
      example: "2026-03-15T08:18:00.123Z",
    }),
    instance_id: nullableText.meta({
      description: "The process; null for requests and for notes about the environment.",
      example: "proc-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f",
    }),
    deployment_id: nullableText.meta({
      description: "The deployment that the process serves.",
      example: "depl-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f",
    }),
    data: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({
        description:
          "For `access`: status, method, path without its query, duration_ms, bytes_sent, ip, user_agent, country. For an `application` line of JSON: channel, context, extra. For `exception`: class, code, file, trace.",
        example: { status: 200, method: "GET", path: "/checkout", duration_ms: 12 },
      }),
  })
  .meta({ id: "EnvironmentLogEntry" });

export type EnvironmentLogEntry = z.output<typeof entry>;

const flag = (description: string) =>
  z
    .enum(["0", "1", "true", "false"])
    .transform((value) => value === "1" || value === "true")
    .optional()
    .meta({ description, example: "true", override: { type: "string", enum: ["0", "1", "true", "false"] } });

const type = z.enum(["all", ...environmentLogTypes]).meta({ id: "EnvironmentLogFilter" });

export type EnvironmentLogFilterType = z.output<typeof type>;

const instances = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}(,[a-z0-9][a-z0-9-]{0,63})*$/, "must be ids with commas between them")
  .transform((text) => text.split(","))
  .refine((ids) => ids.length <= MAX_LOG_INSTANCES, `may have ${MAX_LOG_INSTANCES} ids at most`)
  .refine(
    (ids) => !ids.some((id) => id.startsWith("inst-")),
    "must have ids of processes, the `instance_id` of entries, and none of an instance",
  )
  .optional()
  .meta({
    description: "Only entries of these processes, by their ids: the `instance_id` of entries.",
    example: ["proc-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f"],
    param: { style: "form", explode: false },
    override: { type: "array", items: { type: "string" } },
  });

/** The query of the log of an environment. */
export const environmentLogsQuery = z.object({
  from: moment("Only entries of this time or later."),
  to: moment("Only entries before this time."),
  type: type
    .optional()
    .meta({ description: "Only entries of this type; `all` when left out.", example: "all" }),
  query: z
    .string()
    .max(MAX_QUERY_LENGTH)
    .optional()
    .meta({ description: "Only entries with this text in their message or data.", example: "timeout" }),
  case_sensitive: flag("Whether the case of `query` matters."),
  whole_word: flag("Whether `query` stands for whole words only."),
  "instances[]": instances,
  deployment: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "must be the id of a deployment")
    .optional()
    .meta({
      description: "Only entries of the processes of this deployment.",
      example: "depl-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f",
      override: { type: "string" },
    }),
  cursor: z
    .string()
    .regex(ENVIRONMENT_LOG_CURSOR, "must be the cursor of an earlier answer")
    .optional()
    .meta({
      description: "Goes on where an earlier answer ended: its `meta.cursor`.",
      example: "3.18244.5.90112",
      override: { pattern: undefined },
    }),
  tail: count(
    MAX_SLICE_LINES,
    "The last entries that the other members select, this many of them. Without `tail`, `from` and `cursor` the answer begins with the oldest entry that is kept; a stream with the entries from now on.",
    100,
  ),
  per_page: count(MAX_SLICE_LINES, "How many entries at most; 500 when left out.", 500),
  follow: z.enum(["", "1", "true"]).optional().meta({
    description:
      "Keeps the answer open and sends each entry as Server-Sent Event when it is there. A client goes on with `Last-Event-ID` or `cursor`, without holes and without doubles.",
    example: "true",
  }),
});

export type EnvironmentLogsQuery = z.output<typeof environmentLogsQuery>;

/** The answer. */
export const environmentLogsDocument = z
  .object({
    data: z.array(entry),
    meta: z.object({
      cursor: z.string().meta({
        description: "The position after everything that was searched; later entries follow from here.",
        example: "3.18244.5.90112",
      }),
      is_complete: z.boolean().meta({
        description:
          "Whether the log had nothing further. Otherwise ask again with the cursor, also after an empty page.",
        example: true,
      }),
      type: z.string().meta({ description: "The type that was asked for.", example: "all" }),
      from: nullableText.meta({
        description: "The beginning that was asked for.",
        example: "2026-03-15T08:00:00Z",
      }),
      to: nullableText.meta({ description: "The end that was asked for.", example: null }),
    }),
  })
  .meta({ id: "EnvironmentLogs" });

export type EnvironmentLogsDocument = z.output<typeof environmentLogsDocument>;
