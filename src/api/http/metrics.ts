// Gauges and counters for Prometheus: the answers of the API and their times, and the gauges of other parts of the
// process.
import { Counter, Gauge, Histogram, Registry } from "prom-client";

const KNOWN_METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Upper ends of the histogram's buckets, in seconds; long waits are held for up to a minute. */
const BUCKETS_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 60];

/** The most series of one name in an answer; sources put the most important ones first. */
const MAX_SERIES = 5_000;

/** Gauges or counters with the same name. */
export interface FigureFamily {
  /** The name of a counter ends in `_total`. */
  name: string;
  help: string;
  type: "gauge" | "counter";
  labels: string[];
  /** The labels that name resources; a reader who may not know the resources gets the sum over them. */
  idLabels: string[];
  /** Whether such a sum means nothing, so that the figures are left out instead. */
  isNeverSummed?: boolean;
}

/** A value with its labels. */
export interface LabelledFigure {
  /** The name of the family. */
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Families that are read together when a client requests the metrics. */
export interface FigureSource<Context> {
  families: FigureFamily[];
  /** @param organizationId the organization whose resources are wanted; all organizations when left out. */
  read(context: Context, organizationId?: string): Promise<LabelledFigure[]>;
}

/** The view of a client: everything, everything without the ids of resources, or the resources of one organization. */
export type MetricsView = "all" | "without ids" | { organizationId: string };

/** A source that has its context. */
interface OpenSource {
  families: FigureFamily[];
  read(organizationId?: string): Promise<LabelledFigure[]>;
}

/** The metrics of one process. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #sources: OpenSource[] = [];
  readonly #requests: Counter<"method" | "route" | "status">;
  readonly #durations: Histogram<"method" | "route" | "status">;

  constructor() {
    const labelNames = ["method", "route", "status"] as const;
    const registers = [this.#registry];
    this.#requests = new Counter({
      name: "pilvi_http_requests_total",
      help: "Requests that were answered.",
      labelNames,
      registers,
    });
    this.#durations = new Histogram({
      name: "pilvi_http_request_duration_seconds",
      help: "Time until the answer was ready.",
      labelNames,
      registers,
      buckets: BUCKETS_SECONDS,
    });
  }

  /** @param route the pattern of the path, never the path itself, or the number of series would have no end. */
  observeRequest(method: string, route: string, status: number, seconds: number): void {
    const labels = { method: KNOWN_METHODS.has(method) ? method : "other", route, status: String(status) };
    this.#requests.inc(labels);
    this.#durations.observe(labels, seconds);
  }

  /** Adds a gauge that is read when a client requests the metrics. */
  addGauge(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      async collect() {
        this.set(await read());
      },
    });
    this.#registry.registerMetric(gauge);
  }

  /**
   * Adds families that are read together, once for each request for the metrics. A source that cannot be read is left
   * out, for the others are needed just then.
   */
  addFigures<Context>({ families, read }: FigureSource<Context>, context: Context): void {
    this.#sources.push({ families, read: (organizationId) => read(context, organizationId) });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The visible metrics as text. An organization does not see the totals of the process. */
  async text(view: MetricsView): Promise<string> {
    const organizationId = typeof view === "object" ? view.organizationId : undefined;
    // Each answer has a registry of its own, so that simultaneous answers never mix.
    const figures = new Registry();
    await Promise.all(
      this.#sources.map(async ({ families, read }) => {
        const found = await read(organizationId).catch(() => []);
        const byName = Map.groupBy(found, ({ name }) => name);
        for (const family of families) {
          addFamily(figures, family, byName.get(family.name) ?? [], view === "without ids");
        }
      }),
    );
    const ofProcess = organizationId === undefined ? await this.#registry.metrics() : "";
    return [ofProcess, await figures.metrics()].filter((text) => text !== "").join("\n");
  }
}

/** @param found the figures of this family. */
function addFamily(
  registry: Registry,
  { name, help, type, labels, idLabels, isNeverSummed = false }: FigureFamily,
  found: LabelledFigure[],
  isWithoutIds: boolean,
): void {
  if (isWithoutIds && isNeverSummed) return;
  const labelNames = isWithoutIds ? labels.filter((label) => !idLabels.includes(label)) : labels;
  const options = { name, help, labelNames, registers: [registry] };
  const metric: Gauge | Counter = type === "gauge" ? new Gauge(options) : new Counter(options);
  for (const figure of isWithoutIds ? found : found.slice(0, MAX_SERIES)) {
    const values = labelNames.map((label) => [label, figure.labels[label] ?? ""]);
    metric.inc(Object.fromEntries(values), figure.value);
  }
}
