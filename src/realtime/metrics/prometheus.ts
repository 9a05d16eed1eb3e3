// The text format that Prometheus reads.

export interface Metric {
  /** For example `pilvi_websocket_connections`; counters end in `_total`. */
  name: string;
  help: string;
  type: "gauge" | "counter";
  /** For example `{ server: "…", application: "…" }`. */
  labels: Record<string, string>;
  value: number;
}

/**
 * Text exposition format 0.0.4, served as `text/plain; version=0.0.4; charset=utf-8`. Metrics of one name may be apart
 * in the list; help and type are those of the first.
 */
export function prometheusText(metrics: Metric[]): string {
  const families = new Map<string, Metric[]>();
  for (const each of metrics) {
    const family = families.get(each.name);
    if (family === undefined) families.set(each.name, [each]);
    else family.push(each);
  }
  return Array.from(families.values(), familyText).join("");
}

function familyText(family: Metric[]): string {
  const [first] = family;
  if (first === undefined) return "";
  const { name, help, type } = first;
  const lines = family.map((each) => `${name}${labelsText(each.labels)} ${valueText(each.value)}\n`);
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labelsText(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(value).replaceAll('"', String.raw`\"`)}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", String.raw`\\`).replaceAll("\n", String.raw`\n`);
}

function valueText(value: number): string {
  if (value === Infinity) return "+Inf";
  if (value === -Infinity) return "-Inf";
  return String(value);
}
