// The shapes of requests for a command, and of a command and its output in an answer.
import { z } from "zod";
import { filterQuery } from "../../../api/jsonapi/filters.ts";
import { resourceIdentifier } from "../../../api/jsonapi/jsonapi.ts";
import { createdAt } from "../../shared/fields.ts";

/** In the order of a command's life; the last two are ends. */
export const commandStatuses = [
  "pending",
  "command.created",
  "command.running",
  "command.success",
  "command.failure",
] as const;

export type CommandStatus = (typeof commandStatuses)[number];

const MAX_COMMAND = 150_000;

const EXAMPLE = "node scripts/import.js";

/** The filters of a list of commands. */
export const commandFilter = {
  ...filterQuery({ status: commandStatuses }),
  "filter[command]": z
    .string()
    .max(MAX_COMMAND)
    .optional()
    .meta({ description: "Only commands with this text in them, in whatever case.", example: "reindex" }),
};

/** The body of `POST /environments/:id/commands`. */
export const newCommand = z
  .object({
    command: z
      .string()
      .min(1)
      .max(MAX_COMMAND)
      .regex(/^[^\0]*$/, "may not have the character NUL")
      .regex(/\S/, "has no words")
      .meta({
        description: "For `/bin/sh`. Of several lines, the first that fails ends the command.",
        example: EXAMPLE,
      }),
    terminal: z.boolean().optional().meta({
      description:
        "Whether it runs in a terminal, which `GET /commands/{id}/terminal` opens. The command waits for that for half a minute, ends with the connection, and keeps no output. The token needs `applications:credentials` as well.",
      example: false,
    }),
  })
  .meta({ id: "NewCommand" });

export type NewCommand = z.output<typeof newCommand>;

const moment = z.string().nullable().meta({ example: "2026-03-15T08:18:53.000000Z" });

const attributes = z
  .object({
    command: z.string().meta({ example: EXAMPLE }),
    terminal: z.boolean().meta({ description: "Whether it has a terminal.", example: false }),
    output: z.string().nullable().meta({
      description:
        "The last 64 KiB of the output that is kept, without the values of secret variables; null before its end, and for tokens that may not see credentials. `GET /commands/{id}/output` has all that is kept, also while it runs.",
    }),
    status: z.enum(commandStatuses).meta({
      id: "CommandStatus",
      description: "The ends are `command.success`, with the exit code 0, and `command.failure`.",
      example: "command.success",
    }),
    exit_code: z.int().nullable().meta({
      description: "Null before its end, and for a command that was cancelled or killed.",
      example: 0,
    }),
    failure_reason: z.string().nullable().meta({ description: "A sentence." }),
    started_at: moment,
    finished_at: moment,
    created_at: createdAt,
  })
  .meta({ id: "CommandAttributes" });

/** A command as answers show it. */
export const commandResource = z
  .object({
    id: z.string().meta({ example: "comm-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("commands"),
    links: z.object({ self: z.object({ href: z.string() }) }),
    attributes,
    relationships: z.object({
      environment: z.object({ data: resourceIdentifier("environments") }),
      deployment: z.object({ data: resourceIdentifier("deployments") }),
      initiator: z.object({ data: resourceIdentifier("users").nullable() }),
    }),
    meta: z
      .object({
        is_output_cut: z.boolean().meta({ description: "Whether `output` lacks a part." }),
      })
      .meta({ id: "CommandMeta" }),
  })
  .meta({ id: "Command" });

export type CommandResource = z.output<typeof commandResource>;

/** The query of `GET /commands/:id/output`. */
export const commandOutputQuery = z.object({
  after: z
    .string()
    .regex(/^\d{1,12}$/, "is not a cursor of this output")
    .transform(Number)
    .optional()
    .meta({ description: "`meta.cursor` of the answer before; the beginning when left out.", example: "0" }),
});

/** A part of a command's output. */
export const commandOutput = z
  .object({
    data: z.array(
      z.object({
        text: z.string().meta({ description: "A line, with its colours." }),
        is_open: z.boolean().meta({
          description:
            "Whether the line goes on with the next text, without a break: a line of more than 4,096 characters comes in parts.",
          example: false,
        }),
        logged_at: z.string().meta({ example: "2026-03-15T08:18:53.123Z" }),
      }),
    ),
    meta: z.object({
      cursor: z.string().meta({ description: "Goes on after these lines as `after`.", example: "1024" }),
      is_complete: z.boolean().meta({ description: "Whether the command has ended, and nothing follows." }),
      is_cut: z.boolean().meta({ description: "Whether a part of the output is not kept." }),
    }),
  })
  .meta({ id: "CommandOutput" });

export type CommandOutput = z.output<typeof commandOutput>;
