// The shape of usage in an answer: what a resource used in a month, and on each day of it.
import { z } from "zod";
import { resourceIdentifier } from "../../api/jsonapi/jsonapi.ts";
import { INSTANCE_KINDS, type InstanceKind } from "./instance-kinds.ts";

export const usageKinds = Object.keys(INSTANCE_KINDS) as [InstanceKind, ...InstanceKind[]];

const amount = (description: string, example: number) => z.int().min(0).meta({ description, example });

const amounts = {
  awake_ms: amount("Milliseconds in which its engine had a process.", 5_400_000),
  uncertain_ms: amount("What may be missing from `awake_ms`, because no host saw the end of a process.", 0),
  asleep_ms: amount("Milliseconds in which it slept.", 2_700_000),
  awake_mib_seconds: amount(
    "Seconds awake times the mebibytes of its size at each instant, rounded down for each day.",
    5_529_600,
  ),
  saved_mib_seconds: amount(
    "What sleeping saved: seconds asleep times the mebibytes of its size.",
    2_764_800,
  ),
  compute_unit_seconds: amount(
    "`awake_mib_seconds` in compute units, for types that are ordered in them.",
    1_350,
  ).nullable(),
  storage_byte_hours: amount(
    "Bytes on the disk at the last sample of each hour, added up; asleep as well.",
    0,
  ),
  max_connections: amount(
    "The most clients at the ends of minutes: at the gateway, asleep as well, or of the engine where clients connect to it.",
    42,
  ),
  messages_received: amount(
    "Messages from clients and publishers; null for kinds without messages.",
    1_200,
  ).nullable(),
  messages_sent: amount("Messages to clients; null likewise.", 48_000).nullable(),
  is_complete: z.boolean().meta({ description: "False when events of the time are missing.", example: true }),
};

const usageAmounts = z.object(amounts).meta({ id: "UsageAmounts" });

export type UsageAmounts = z.output<typeof usageAmounts>;

const usageDay = z
  .object({ day: z.iso.date().meta({ description: "In UTC.", example: "2026-11-23" }), ...amounts })
  .meta({ id: "UsageDay" });

export type UsageDayDocument = z.output<typeof usageDay>;

const moment = (description: string) =>
  z.iso
    .datetime()
    .meta({ description, example: "2026-11-02T08:18:53.204112Z", override: { pattern: undefined } });

/** What a resource used in a month. */
export const usageResource = z
  .object({
    id: z.string().meta({ example: "cache-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("usages"),
    attributes: z.object({
      kind: z.enum(usageKinds).meta({ example: "caches" }),
      type: z.string().meta({ example: "platform_valkey" }),
      name: z.string().meta({ description: "The latest name that it had.", example: "sessions" }),
      created_at: moment("When it was created."),
      deleted_at: moment("When the last of its data was gone.").nullable(),
      memory_mib: amount("The size that counts at the end of the month, or now, in mebibytes.", 1_024),
      totals: usageAmounts,
      days: z.array(usageDay),
    }),
    relationships: z.object({
      resource: z.object({
        data: z.union(Object.values(INSTANCE_KINDS).map(({ type }) => resourceIdentifier(type))),
      }),
    }),
  })
  .meta({ id: "Usage" });

export type UsageResource = z.output<typeof usageResource>;

/** The members of `meta` beside those of the page. */
export const usageMeta = z.object({
  month: z.string().meta({ example: "2026-11" }),
  totals: usageAmounts.meta({ description: "Of all resources of the filter, over all pages." }),
  days: z.array(usageDay).meta({ description: "The same by day." }),
});

export type UsageMeta = z.output<typeof usageMeta>;
