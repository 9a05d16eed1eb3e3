// Figures for Prometheus: what the API answers and how fast, and whatever other parts of the process add.
import { Counter, Gauge, Histogram, Registry } from "prom-client";

const KNOWN_METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Upper ends of the histogram's buckets, in seconds; long waits are held for up to a minute. */
const BUCKETS_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 60];

/** Figures of one name. */
export interface FigureFamily {
  /** A counter's ends in `_total`. */
  name: string;
  help: string;
  type: "gauge" | "counter";
  labels: string[];
}

/** One figure with what it is about. */
export interface LabelledFigure {
  /** The family's. */
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Figures that are looked up together when somebody asks for the metrics. */
export interface FigureSource<Context> {
  families: FigureFamily[];
  read(context: Context): Promise<LabelledFigure[]>;
}

/** The metrics of one process. */
export class Metrics {
  readonly #registry = new Registry();
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

  /** Adds a figure that is looked up when somebody asks for the metrics. */
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
   * Adds figures that are looked up together, once for each time that somebody asks for the metrics. Those that cannot be read
   * are left out, for the others are wanted just then.
   */
  addFigures<Context>({ families, read }: FigureSource<Context>, context: Context): void {
    let reading: Promise<LabelledFigure[]> | undefined;
    const readOnce = () => {
      reading ??= read(context)
        .catch(() => [])
        .finally(() => (reading = undefined));
      return reading;
    };
    for (const { name, help, type, labels } of families) {
      const collect = async () => {
        const told = await readOnce();
        metric.reset();
        for (const each of told) if (each.name === name) metric.inc(each.labels, each.value);
      };
      const options = { name, help, labelNames: labels, registers: [], collect };
      const metric: Gauge | Counter = type === "gauge" ? new Gauge(options) : new Counter(options);
      this.#registry.registerMetric(metric);
    }
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All figures as text. */
  async text(): Promise<string> {
    return await this.#registry.metrics();
  }
}
