// The lines of an answer, made from stretches in which not everything was measured.
import { expect, test } from "bun:test";
import type { ResourceMetrics, Stretch } from "./read.ts";
import { linesOf, runningMeanOf, runningRateOf } from "./series.ts";

const MINUTE_MS = 60_000;

function metricsOf(...figures: Stretch["figures"][]): ResourceMetrics {
  const stretches = figures.map((each, index) => ({
    atMs: index * MINUTE_MS,
    minutes: 1,
    figures: each,
    replicaLagSeconds: null,
    storageBytes: {},
  }));
  return { id: "ws-1", stretches, storageBytes: {} };
}

test("a minute in which the process ran and did not answer has neither a mean nor a rate", () => {
  const metrics = metricsOf(
    { minutes: 1, cpuMs: 20 },
    { minutes: 1, cpuMs: 20, connections: 3, messagesReceived: 120 },
    null,
  );
  const mean = linesOf(metrics, { connections: runningMeanOf("connections") });
  const rate = linesOf(metrics, { messages: runningRateOf("messagesReceived", "messagesSent") });
  expect(mean.data).toEqual([{ x: "1970-01-01T00:01:00.000Z", y: [3] }]);
  expect(rate.data).toEqual([{ x: "1970-01-01T00:01:00.000Z", y: [2] }]);
});
