// The text that Prometheus reads.
import { expect, test } from "bun:test";
import { prometheusText, type Metric } from "./prometheus.ts";

function metric(name: string, value: number, labels: Record<string, string> = {}): Metric {
  return {
    name,
    help: `Help of ${name}.`,
    type: name.endsWith("_total") ? "counter" : "gauge",
    labels,
    value,
  };
}

test("metrics of one name stand together, with their help and type once", () => {
  const text = prometheusText([
    metric("pilvi_websocket_connections", 3, { server: "s", application: "a" }),
    metric("pilvi_websocket_messages_received_total", 12, { server: "s", application: "a" }),
    metric("pilvi_websocket_connections", 4, { server: "s", application: "b" }),
  ]);
  expect(text).toBe(`# HELP pilvi_websocket_connections Help of pilvi_websocket_connections.
# TYPE pilvi_websocket_connections gauge
pilvi_websocket_connections{server="s",application="a"} 3
pilvi_websocket_connections{server="s",application="b"} 4
# HELP pilvi_websocket_messages_received_total Help of pilvi_websocket_messages_received_total.
# TYPE pilvi_websocket_messages_received_total counter
pilvi_websocket_messages_received_total{server="s",application="a"} 12
`);
});

test("labels are escaped, and numbers are written as Prometheus writes them", () => {
  const text = prometheusText([
    metric("a", Infinity, { name: 'q"u\\o\nte' }),
    metric("b", NaN),
    metric("c", 1.5),
  ]);
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(samples).toEqual([String.raw`a{name="q\"u\\o\nte"} +Inf`, "b NaN", "c 1.5"]);
});

test("an empty list makes an empty text", () => {
  expect(prometheusText([])).toBe("");
});
