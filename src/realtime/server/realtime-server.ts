// The server of one cluster: connects the protocol, the sockets, webhooks and metrics, and runs their timers.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Server } from "bun";
import type { Application } from "../application.ts";
import { Cluster } from "../cluster.ts";
import { ClusterCounters, type Counters } from "../counters.ts";
import type { ClusterConfig, ProcessConfig, RealtimeStats } from "../../contracts/realtime.ts";
import type { WebSocketApplication } from "../../contracts/websocket-application.ts";
import { DebugStreams } from "../debug/streams.ts";
import { beat, HEARTBEAT_INTERVAL_MS } from "../heartbeat.ts";
import { PublicError } from "../../lib/errors.ts";
import type { SharedCount } from "../shared-count.ts";
import { BUFFER_CHECK_INTERVAL_MS } from "../slow-consumers.ts";
import { Webhooks, type Waiting } from "../webhooks/index.ts";
import { SpoolFiles } from "../webhooks/spool-files.ts";
import { Backlog } from "./backlog.ts";
import type { Controlled } from "./control-socket.ts";
import { CounterFiles } from "./counter-files.ts";
import { listen, type SocketData } from "./listener.ts";
import type { Log } from "../../lib/line-log.ts";

/** The most that may wait in the webhooks of all applications together, in memory and as much again on the disk. */
const MAX_WAITING_BYTES = 64 * 1024 ** 2;
/** The most departures that the webhooks of all applications hold back together, some hundred bytes each. */
const MAX_HELD_DEPARTURES = 100_000;
/** The file in which earlier versions kept series of their own. */
const FORMER_METRICS_FILE = "metrics";

export class RealtimeServer implements Controlled {
  readonly #config: ProcessConfig;
  readonly #log: Log;
  readonly #cluster: Cluster;
  readonly #debug = new DebugStreams();
  readonly #webhooks = new Map<string, Webhooks>();
  readonly #spools: SpoolFiles;
  readonly #counters: ClusterCounters;
  readonly #waiting: Waiting = { bytes: 0, maxBytes: MAX_WAITING_BYTES };
  readonly #heldDepartures: SharedCount = { count: 0, max: MAX_HELD_DEPARTURES };
  readonly #backlog: Backlog;
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #listener: Server<SocketData> | null = null;

  constructor(config: ProcessConfig, log: Log) {
    this.#config = config;
    this.#log = log.child({ server: config.id });
    const files = new CounterFiles(join(config.dataDir, "counters"), this.#log);
    this.#counters = new ClusterCounters(config.id, files);
    this.#spools = new SpoolFiles(config.dataDir, this.#log);
    this.#cluster = new Cluster(
      (topic, frame) => this.#publish(topic, frame),
      (application) => this.#webhooksOf(application),
      this.#counters,
    );
    this.#backlog = new Backlog(this.#cluster, this.#log);
  }

  /** Starts the timers; clients are let in from the first configuration on. */
  start(): void {
    mkdirSync(this.#config.dataDir, { recursive: true });
    rmSync(join(this.#config.dataDir, FORMER_METRICS_FILE), { force: true });
    this.#every(HEARTBEAT_INTERVAL_MS, () => beat(this.#cluster));
    this.#every(BUFFER_CHECK_INTERVAL_MS, () => this.#backlog.check());
  }

  configure(config: ClusterConfig): void {
    this.#cluster.configure(config);
    for (const application of config.applications)
      this.#webhooks.get(application.id)?.configure(application.webhooks);
    this.#forgetRemoved(config);
    this.#debug.keepOnly(
      (application) => this.#cluster.applicationById(application.config.id) === application,
    );
    this.#listener ??= listen(this.#cluster, this.#config, this.#backlog, this.#log);
    this.#log.info({ applications: config.applications.length }, "configuration taken");
  }

  stats(): RealtimeStats {
    const applications = [...this.#cluster.applications()].map((application) => this.#statsOf(application));
    return { ...figuresOf(this.#cluster.connectionCount, this.#cluster.counters), applications };
  }

  #statsOf({ config, connections, counters }: Application): RealtimeStats["applications"][number] {
    return { id: config.id, ...figuresOf(connections.size, counters) };
  }

  debug(id: string, signal: AbortSignal): ReadableStream<Uint8Array> {
    const application = this.#cluster.applicationById(id);
    if (application === undefined) throw new PublicError("The realtime server has no such application.");
    return this.#debug.open(application, signal);
  }

  /** Sends all clients away gently and saves the data that must outlive the process. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    // Open connections stay for now, and the kernel refuses new connections.
    void this.#listener?.stop(false);
    await this.#cluster.close();
    this.#debug.keepOnly(() => false);
    await Promise.all([...this.#webhooks.values()].map((webhooks) => webhooks.close()));
  }

  #webhooksOf({ id, webhooks }: WebSocketApplication): Webhooks {
    const made = new Webhooks({
      applicationId: id,
      credentials: () => this.#credentialsOf(id),
      spoolFile: this.#spools.pathOf(id),
      allowPrivate: this.#config.allowPrivateWebhooks,
      counters: this.#counters.of(id),
      waiting: this.#waiting,
      heldDepartures: this.#heldDepartures,
      debug: () => this.#cluster.applicationById(id)?.debug ?? null,
      log: this.#log.child({ application: id }),
    });
    this.#webhooks.set(id, made);
    made.configure(webhooks);
    return made;
  }

  #credentialsOf(id: string): { key: string; secret: string } {
    const { key, secrets } = this.#cluster.applicationById(id)?.credentials() ?? { key: "", secrets: [] };
    return { key, secret: secrets[0] ?? "" };
  }

  #forgetRemoved({ applications }: ClusterConfig): void {
    const kept = new Set(applications.map(({ id }) => id));
    for (const [id, webhooks] of this.#webhooks) {
      if (kept.has(id)) continue;
      webhooks.configure([]);
      void webhooks.close();
      this.#webhooks.delete(id);
    }
    this.#spools.keepOnly(kept);
  }

  #publish(topic: string, frame: string): void {
    this.#backlog.bytes += frame.length;
    this.#listener?.publish(topic, frame);
  }

  #every(intervalMs: number, act: () => void): void {
    this.#timers.push(setInterval(act, intervalMs));
  }
}

function figuresOf(connections: number, counters: Counters) {
  const { delivered, failed, dropped } = counters;
  return {
    connections,
    messagesReceived: counters.received,
    messagesSent: counters.sent,
    apiRequests: counters.requests,
    slowConsumers: counters.slowConsumers,
    webhooks: { delivered, failed, dropped },
  };
}
