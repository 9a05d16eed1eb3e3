// Reading metrics of any resource.
import type { InstanceMetricPeriod, MetricStep } from "../resources/shared/metrics-schema.ts";
import type { Connection } from "./connection.ts";

export type { MetricStep } from "../resources/shared/metrics-schema.ts";
export type MetricPeriod = InstanceMetricPeriod;

/**
 * Reads the metrics of the resource at this path.
 * @param period how far back, six hours by default.
 * @param step the time from a point to the next; by default a period has at most 360 points.
 */
export async function readMetrics<Document>(
  connection: Connection,
  path: string,
  period: MetricPeriod | undefined,
  step: MetricStep | undefined,
): Promise<Document> {
  const query = new URLSearchParams({ ...(period && { period }), ...(step && { step }) });
  return await connection.send<Document>({ method: "GET", path: `${path}/metrics`, query });
}
