// Declares the operation that reads the metrics of a cache or a database cluster.
import type { z } from "zod";
import { notFound } from "../../../api/jsonapi/errors.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { instanceMetricsQuery, metricPeriodNames } from "../metrics-schema.ts";
import { readMetrics, type ResourceMetrics } from "./read.ts";

/** What differs between the kinds. */
interface MetricsRoute<Row> {
  kind: "caches" | "databases";
  path: string;
  operationId: string;
  tag: string;
  noun: string;
  params: z.ZodObject<{ id: z.ZodString }>;
  schema: z.ZodType;
  find(organizationId: string, id: string): Promise<Row | undefined>;
  /** The series of the answer. */
  render(metrics: ResourceMetrics, row: Row): object;
}

const description =
  "Averages in at most 360 stretches of time, kept for six hours by minute up to a year by day. While it sleeps, it takes no processor and no memory, and its storage stays as it is; times in which nothing was measured are left out. Reading wakes nothing.";

/** The operation, which needs the ability to read the kind. */
export function metricsOperation<Row extends { id: string; hostId: string; createdAt: string }>(
  { db }: KindContext,
  route: MetricsRoute<Row>,
): Operation {
  const { kind, path, operationId, tag, noun, params, schema } = route;
  return operation({
    method: "GET",
    path,
    operationId,
    tag,
    summary: `Get the metrics of a ${noun}`,
    description,
    ability: `${kind}:read`,
    params,
    query: instanceMetricsQuery,
    success: { status: 200, description: "The metrics.", schema },
    async handle({ principal, params: { id }, query: { period } }) {
      const row = await route.find(principal.organizationId, id);
      if (row === undefined) throw notFound(noun);
      const metrics = await readMetrics(db, row, period);
      const meta = { period, available_periods: metricPeriodNames };
      return { document: { data: route.render(metrics, row), meta } };
    },
  });
}
