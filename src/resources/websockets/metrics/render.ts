// Renders a time series.
import type { Series } from "../../../contracts/host-answers.ts";
import { periodNames, type MetricPeriod, type WebsocketMetrics } from "./schema.ts";

/** The document; missing figures are empty. */
export function renderMetrics(series: Series, period: MetricPeriod): WebsocketMetrics {
  return {
    data: {
      connection_count: renderSeries("connections", series["connectionCount"]),
      message_rate: renderSeries("messages_per_second", series["messageRate"]),
    },
    meta: { period, available_periods: periodNames },
  };
}

function renderSeries(label: string, points: Series[string] = []) {
  const sum = points.reduce((total, { value }) => total + value, 0);
  return {
    labels: [label],
    average: points.length === 0 ? [] : [Number((sum / points.length).toPrecision(6))],
    data: points.map(({ at, value }) => ({ x: at, y: [value] })),
  };
}
