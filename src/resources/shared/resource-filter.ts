// The query members that filter by the ids of resources and by time, for events, activity and usage.
import { z } from "zod";
import { inUtc, momentField } from "./moment-field.ts";

/** How many resources a list filter can name. */
const MAX_RESOURCES = 20;

/** @param what what is listed of the resources, such as `events`. */
export function resourceFilter(what: string) {
  return {
    "filter[resource]": z
      .string()
      .regex(/^[\w-]{1,64}(,[\w-]{1,64})*$/, "must be ids with commas between them")
      .transform((text) => [...new Set(text.split(","))])
      .refine((ids) => ids.length <= MAX_RESOURCES, `may have ${MAX_RESOURCES} ids at most`)
      .optional()
      .meta({
        description: `Only the ${what} of these resources, by their ids, ${MAX_RESOURCES} at most; deleted resources included.`,
        example: ["cache-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f"],
        param: { style: "form", explode: false },
        override: { type: "array", items: { type: "string" } },
      }),
  };
}

/** A query member that is a time. */
export const moment = (description: string) =>
  momentField("2026-03-15T08:00:00Z")
    .transform(inUtc)
    .optional()
    .meta({ description, example: "2026-03-15T08:00:00Z", override: { pattern: undefined } });

export const timeFilter = {
  "filter[since]": moment("Only what happened at this time or later."),
  "filter[until]": moment("Only what happened before this time."),
};
