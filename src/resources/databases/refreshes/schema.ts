// The shape of the latest refresh of a clone in an answer.
import { z } from "zod";

const moment = (description: string) =>
  z.iso.datetime().nullable().meta({ description, example: "2026-03-15T08:18:53.204Z" });

/** The member `refresh` of a cluster's `meta`. */
export const refreshField = z
  .object({
    status: z.enum(["never", "refreshing", "done", "failed"]).meta({
      description: "`failed` leaves the data as it was before; `last_error` says why.",
      example: "done",
    }),
    restore_time: z
      .string()
      .nullable()
      .meta({ description: "The instant of the parent; null for its data of then.", example: null }),
    started_at: moment("When it was asked for; null before the first."),
    ended_at: moment("Null while it is under way."),
    done_bytes: z.number().min(0).nullable().meta({
      description: "How much of the new data is there; null unless it is being copied.",
      example: null,
    }),
    total_bytes: z.number().min(0).nullable().meta({ description: "How much there will be.", example: null }),
    last_error: z.string().nullable().meta({ example: null }),
  })
  .nullable()
  .meta({
    id: "DatabaseRefreshState",
    description:
      "The latest refresh from the cluster that it is a clone of; null for a cluster that cannot be refreshed.",
  });

export type DatabaseRefreshState = z.output<typeof refreshField>;
