// The `config` of serverless Postgres.
import { z } from "zod";
import { configVariant, retentionDays, suspendSeconds } from "./variant.ts";

const computeUnits = (description: string, example: number) =>
  z.literal([0.25, 0.5, 1, 2, 4, 8, 10]).meta({ description, example });

const schema = z.object({
  cu_min: computeUnits("Compute units that the cluster has at least; not above `cu_max`.", 0.25),
  cu_max: computeUnits(
    "The most compute units of the cluster; each is one processor with 4 GiB. The least that `cu_min` allows when left out.",
    1,
  ),
  suspend_seconds: suspendSeconds("Seconds without use after which the cluster sleeps; 0 is never."),
  retention_days: retentionDays,
});

export type ServerlessConfig = z.output<typeof schema>;

export const serverless = configVariant({
  title: "Serverless Postgres",
  schema,
  defaults: { cu_min: 0.25, cu_max: 0.25, suspend_seconds: 300, retention_days: 0 },
  faults: ({ cu_min: least, cu_max: most }) =>
    least !== undefined && most !== undefined && least > most ? { cu_min: "must not be above cu_max" } : {},
  preset: ({ cu_min: least }) => (least === undefined ? {} : { cu_max: least }),
});
