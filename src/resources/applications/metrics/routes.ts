// The operation that reads the metrics of an environment.
import type { Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { metricsOperation } from "../../shared/metrics/operation.ts";
import {
  answerMsOf,
  countOf,
  greatestOfParts,
  linesOf,
  linesOfParts,
  meanAnswerMs,
  meanOf,
  shareOf,
} from "../../shared/metrics/series.ts";
import { KIND } from "../create.ts";
import { findEnvironment } from "../environments/store.ts";
import { environmentParams } from "../params.ts";
import { partsOf } from "./parts.ts";
import { environmentMetricsDocument, type EnvironmentMetrics } from "./schema.ts";

/** The operation, which asks only the store. */
export function environmentMetricsOperation(context: KindContext): Operation {
  const { db } = context;
  return metricsOperation(context, {
    kind: KIND,
    path: "/environments/:id/metrics",
    operationId: "getEnvironmentMetrics",
    tag: "Environments",
    noun: "environment",
    params: environmentParams,
    schema: environmentMetricsDocument,
    rest: "While it sleeps, it takes no processor and no memory.",
    find: (organizationId, id) => findEnvironment(db, organizationId, id),
    async render({ id }, read): Promise<EnvironmentMetrics["data"]> {
      const parts = await partsOf(db, id);
      const measured = await Promise.all(
        parts.map(async ({ id: part, name, isInstance }) => ({
          label: name,
          isInstance,
          metrics: await read(part),
        })),
      );
      const replicas = measured
        .filter(({ isInstance }) => isInstance)
        .map(({ metrics }) => ({ label: "replicas", metrics }));
      const requests = await read(id);
      return {
        cpu_usage: linesOfParts(measured, shareOf("cpuMs")),
        memory_usage: linesOfParts(measured, meanOf("memoryBytes")),
        replica_count: linesOfParts(replicas, shareOf("awakeMs")),
        http_response_count: linesOf(requests, {
          "2xx": countOf("responses2xx"),
          "3xx": countOf("responses3xx"),
          "4xx": countOf("responses4xx"),
          "5xx": countOf("responses5xx"),
        }),
        http_response_time: linesOf(requests, {
          average: meanAnswerMs,
          p50: answerMsOf(0.5),
          p95: answerMsOf(0.95),
          p99: answerMsOf(0.99),
        }),
        awake: greatestOfParts("ratio", measured, shareOf("awakeMs")),
      };
    },
  });
}
