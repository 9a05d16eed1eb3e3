// The shapes of the queries and the statements of a database cluster in answers.
import { z } from "zod";
import { wholeNumberQuery } from "../../../api/jsonapi/pagination.ts";
import {
  cancelScopes,
  MAX_QUERIES,
  MAX_STATEMENTS,
  MAX_TEXT_CHARACTERS,
  queryStates,
  statementOrders,
} from "../../../contracts/queries.ts";
import { clusterParams } from "../params.ts";

/** How many statements an answer has that names no number. */
export const DEFAULT_STATEMENTS = 50;

export const queriesQuery = z.object({
  idle: z.enum(["true", "false"]).default("false").meta({
    description: "Whether sessions that do nothing are listed as well.",
    example: "true",
  }),
});

export const queryParams = clusterParams.extend({
  query: z
    .string()
    .regex(/^\d{1,20}(-[0-9a-z]{1,20}){2}$/)
    .meta({
      description: "The id of the query, from the list.",
      example: "4711-hgk2j4x9s0-2n9c",
    }),
});

const scope = z.enum(cancelScopes).meta({ id: "CancelScope", example: "statement" });

export const cancelQuery = z.object({
  scope: scope.default("statement").meta({
    description: "`statement` cancels the statement, and `session` ends the session with it.",
    example: "session",
  }),
});

const order = z.enum(statementOrders).meta({ id: "StatementOrder", example: "mean_time" });

export const statementsQuery = z.object({
  sort: order.default("total_time").meta({
    description: "The figure by which statements are ordered, the largest first.",
    example: "mean_time",
  }),
  limit: wholeNumberQuery(
    MAX_STATEMENTS,
    `How many statements are listed at most; ${DEFAULT_STATEMENTS} when left out.`,
    10,
  ),
});

const text = z
  .string()
  .nullable()
  .meta({
    description: `At most ${MAX_TEXT_CHARACTERS} characters, without what follows a word for a password; null when it is not known.`,
    example: "select * from orders where id = $1",
  });
const isTextCut = z
  .boolean()
  .meta({ description: "Whether the text has more than is shown.", example: false });
const milliseconds = (description: string, example: number) =>
  z.number().min(0).meta({ description, example });
const isAsleep = z.boolean().meta({
  description: "Whether the cluster sleeps, so that nothing runs in it. Reading does not wake it.",
  example: false,
});

const query = z
  .object({
    id: z.string().meta({ example: "4711-hgk2j4x9s0-2n9c" }),
    type: z.literal("databaseQueries"),
    attributes: z.object({
      user: z.string().meta({ example: "app" }),
      database: z.string().nullable().meta({ example: "main" }),
      application: z.string().nullable().meta({
        description: "The name that the client gave itself; MySQL knows none.",
        example: "psql",
      }),
      client_address: z.string().nullable().meta({
        description:
          "The IP address of the client, also of a client of the gateway; null when it is not known at the moment.",
        example: "192.0.2.17",
      }),
      state: z.enum(queryStates).meta({ id: "QueryState", example: "active" }),
      wait: z.string().nullable().meta({
        description: "What the session waits for, in the engine's words; null when it waits for nothing.",
        example: "Lock: transactionid",
      }),
      duration_ms: milliseconds("How long the session has been in this state.", 5_204.5),
      transaction_ms: z.number().min(0).nullable().meta({
        description: "How old the transaction is; null outside of a transaction.",
        example: 5_310.2,
      }),
      text,
      is_text_cut: isTextCut,
    }),
  })
  .meta({ id: "DatabaseQuery", description: "A session with its latest statement." });

export type DatabaseQuery = z.output<typeof query>;

/** The answer of `GET /databases/clusters/:id/queries`. */
export const queriesDocument = z.object({
  data: z.array(query),
  meta: z.object({
    is_asleep: isAsleep,
    total: z
      .int()
      .min(0)
      .meta({ description: `How many there are; ${MAX_QUERIES} are listed at most.`, example: 1 }),
  }),
});

export type DatabaseQueries = z.output<typeof queriesDocument>;

const statement = z
  .object({
    id: z.string().meta({ example: "16384.16386.-5321098765432109876" }),
    type: z.literal("databaseStatements"),
    attributes: z.object({
      text,
      is_text_cut: isTextCut,
      user: z.string().nullable().meta({ description: "Null when it was dropped.", example: "app" }),
      database: z.string().nullable().meta({ description: "Null when it was dropped.", example: "main" }),
      calls: z.number().min(0).meta({ description: "How often it has run.", example: 1_204 }),
      total_time_ms: milliseconds("The time of all runs.", 90_334.1),
      mean_time_ms: milliseconds("The mean time of a run.", 75.03),
      max_time_ms: milliseconds("The time of the longest run.", 1_204.8),
      rows: z.number().min(0).meta({ description: "Rows read or changed by all runs.", example: 1_204 }),
      cache_hit_ratio: z.number().min(0).max(1).nullable().meta({
        description: "The part of blocks that were read from memory; null when it has read none.",
        example: 0.992,
      }),
    }),
  })
  .meta({ id: "DatabaseStatement", description: "What all runs of a statement have taken together." });

export type DatabaseStatement = z.output<typeof statement>;

/** The answer of `GET /databases/clusters/:id/statements`. */
export const statementsDocument = z.object({
  data: z.array(statement),
  meta: z.object({
    is_asleep: isAsleep,
    total: z.int().min(0).meta({ description: "How many statements there are figures of.", example: 87 }),
    since: z.iso
      .datetime()
      .nullable()
      .meta({
        description: "Since when the figures count.",
        example: "2026-03-15T08:18:53.204Z",
        override: { pattern: undefined },
      }),
    sort: order,
    available_sorts: z.array(order),
  }),
});

export type DatabaseStatements = z.output<typeof statementsDocument>;
