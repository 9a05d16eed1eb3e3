// The shapes of a statement to run, and of its result.
import { z } from "zod";
import {
  DEFAULT_ROWS,
  DEFAULT_TIMEOUT_SECONDS,
  MAX_ROWS,
  MAX_STATEMENT_CHARACTERS,
  MAX_TIMEOUT_SECONDS,
} from "./limits.ts";

/** The body of `POST /databases/clusters/:id/databases/:schema/query`. */
export const newQuery = z
  .object({
    statement: z
      .string()
      .min(1)
      .max(MAX_STATEMENT_CHARACTERS)
      .regex(/^[^\0]*$/, "must not have a NUL character")
      .meta({ description: "A single statement in the engine's SQL.", example: "select 1" }),
    read_only: z
      .boolean()
      .default(true)
      .meta({ description: "Whether the engine refuses to change anything." }),
    max_rows: z
      .int()
      .min(1)
      .max(MAX_ROWS)
      .default(DEFAULT_ROWS)
      .meta({ description: "The rows of the answer at most." }),
    timeout_seconds: z
      .int()
      .min(1)
      .max(MAX_TIMEOUT_SECONDS)
      .default(DEFAULT_TIMEOUT_SECONDS)
      .meta({ description: "After this time the engine cancels the statement." }),
  })
  .meta({ id: "NewQuery" });

export type NewQuery = z.output<typeof newQuery>;
/** The body as clients send it, without the defaults. */
export type NewQueryBody = z.input<typeof newQuery>;

/** The result of a statement. */
export const queryDocument = z
  .object({
    data: z
      .object({
        columns: z
          .array(
            z
              .object({
                name: z.string().meta({ example: "id" }),
                type: z.string().meta({
                  description: "The type as the engine calls it.",
                  example: "bigint",
                }),
              })
              .meta({ id: "QueryColumn" }),
          )
          .meta({ description: "Empty for a statement without rows." }),
        rows: z.array(z.array(z.string().nullable())).meta({
          description: "Every value as the engine writes it; bytes in hexadecimal digits; null for NULL.",
          example: [["1"]],
        }),
        row_count: z.int().nullable().meta({
          description: "The rows found or changed; null where the engine does not say.",
          example: 1,
        }),
        command: z.string().nullable().meta({
          description: "What a Postgres did; null for a MySQL.",
          example: "SELECT",
        }),
        duration_ms: z.number().meta({ description: "Without the login.", example: 1.42 }),
        truncated: z.boolean().meta({ description: "Whether rows are left out." }),
        cut_cells: z
          .array(
            z
              .object({
                row: z.int().meta({ description: "From 0." }),
                column: z.int().meta({ description: "From 0." }),
                bytes: z.int().nullable().meta({
                  description: "The length of the whole value; null where it is not known.",
                }),
              })
              .meta({ id: "QueryCutCell" }),
          )
          .meta({ description: "Values of which only the beginning is there.", example: [] }),
        notices: z
          .array(
            z
              .object({ severity: z.string(), code: z.string(), message: z.string() })
              .meta({ id: "QueryNotice" }),
          )
          .meta({ description: "Messages of the engine beside the result.", example: [] }),
      })
      .meta({ id: "QueryResult" }),
  })
  .meta({ id: "QueryDocument" });

export type QueryDocument = z.output<typeof queryDocument>;
