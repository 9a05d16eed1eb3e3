// Declares an operation that reads metrics.
import type { z } from "zod";
import { invalid, notFound } from "../../../api/jsonapi/errors.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import type { InstanceKind } from "../instance-kinds.ts";
import {
  instanceMetricsQuery,
  metricPeriodNames,
  metricPeriods,
  stepsOf,
  type InstanceMetricPeriod,
  type MetricStep,
} from "../metrics-schema.ts";
import { readMetrics, type ResourceMetrics } from "./read.ts";

/** What differs between the kinds. */
interface MetricsRoute<Row> {
  kind: InstanceKind | "applications";
  path: string;
  operationId: string;
  tag: string;
  noun: string;
  params: z.ZodObject<{ id: z.ZodString }>;
  schema: z.ZodType;
  /** What the answer says of the times without a process, as a sentence. */
  rest: string;
  find(organizationId: string, id: string): Promise<Row | undefined>;
  /**
   * The series of the answer.
   * @param read reads what is kept under an id, that of the resource or of a part of it, over the asked period.
   */
  render(row: Row, read: (id: string) => Promise<ResourceMetrics>): Promise<object>;
}

/** What a sleeping engine has. */
export const ASLEEP = "While it sleeps, it takes no processor and no memory, and its storage stays as it is.";

/** The operation, which needs the ability to read the kind. */
export function metricsOperation<Row extends { id: string; hostId: string; createdAt: string }>(
  { db }: KindContext,
  route: MetricsRoute<Row>,
): Operation {
  const { kind, path, operationId, tag, noun, params, schema, rest } = route;
  return operation({
    method: "GET",
    path,
    operationId,
    tag,
    summary: `Get the metrics of a ${noun}`,
    description: `Averages over the steps of a period: by minute for 24 hours, by hour for 30 days, by day for a year, and at most 360 of them unless another step is asked for. ${rest} Times in which nothing was measured are left out. Reading asks and wakes nothing.`,
    ability: `${kind}:read`,
    params,
    query: instanceMetricsQuery,
    success: { status: 200, description: "The metrics.", schema },
    async handle({ principal, params: { id }, query: { period, step: asked } }) {
      const available = stepsOf(period);
      const step = stepOf(period, available, asked);
      const row = await route.find(principal.organizationId, id);
      if (row === undefined) throw notFound(noun);
      const nowMs = Date.now();
      const { hostId, createdAt } = row;
      const read = (measured: string) =>
        readMetrics(db, { id: measured, hostId, createdAt }, { period, step }, nowMs);
      const meta = { period, step, available_periods: metricPeriodNames, available_steps: available };
      return { document: { data: await route.render(row, read), meta } };
    },
  });
}

/** @throws ApiError 422 when metrics of the period are not kept so fine, or the step is as long as the period. */
function stepOf(
  period: InstanceMetricPeriod,
  available: readonly MetricStep[],
  asked: MetricStep | undefined,
): MetricStep {
  if (asked === undefined) return metricPeriods[period].step;
  if (available.includes(asked)) return asked;
  const fault = `The field step must be one of ${available.join(", ")} for the period ${period}.`;
  throw invalid({ step: [fault] });
}
