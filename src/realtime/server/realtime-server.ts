// The server of one cluster: connects the protocol, the sockets, webhooks and metrics, and runs their timers.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Server } from "bun";
import { Cluster } from "../cluster.ts";
import type { Series } from "../../contracts/host-answers.ts";
import type { ClusterConfig, ProcessConfig, RealtimeStats } from "../../contracts/realtime.ts";
import type { WebSocketApplication } from "../../contracts/websocket-application.ts";
import { DebugStreams } from "../debug/streams.ts";
import { beat, HEARTBEAT_INTERVAL_MS } from "../heartbeat.ts";
import { PublicError } from "../../lib/errors.ts";
import { Metrics } from "../metrics/index.ts";
import { BUFFER_CHECK_INTERVAL_MS, closeSlowConsumers } from "../slow-consumers.ts";
import { Webhooks, type Waiting } from "../webhooks/index.ts";
import type { Controlled } from "./control-socket.ts";
import { listen, type SocketData } from "./listener.ts";
import type { Backlog } from "./socket-transport.ts";
import type { Log } from "../../lib/line-log.ts";

/** Buffers that have grown by less make no difference to the limits of slow clients. */
const UNCHECKED_BYTES = 32 * 1024;
/** The most that may wait in the webhooks of all applications together, in memory and as much again on the disk. */
const MAX_WAITING_BYTES = 64 * 1024 ** 2;
/** The counters of an application without webhooks. */
const NO_WEBHOOKS = { delivered: 0, failed: 0, dropped: 0 };
const SAMPLE_INTERVAL_MS = 5_000;
const SAVE_INTERVAL_MS = 60_000;

export class RealtimeServer implements Controlled {
  readonly #config: ProcessConfig;
  readonly #log: Log;
  readonly #cluster: Cluster;
  readonly #metrics: Metrics;
  readonly #debug = new DebugStreams();
  readonly #webhooks = new Map<string, Webhooks>();
  readonly #waiting: Waiting = { bytes: 0, maxBytes: MAX_WAITING_BYTES };
  readonly #backlog: Backlog = { bytes: 0 };
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #listener: Server<SocketData> | null = null;

  constructor(config: ProcessConfig, log: Log) {
    this.#config = config;
    this.#log = log.child({ server: config.id });
    this.#cluster = new Cluster(
      (topic, frame) => this.#publish(topic, frame),
      (application) => this.#webhooksOf(application),
    );
    this.#metrics = new Metrics({ file: join(config.dataDir, "metrics"), log: this.#log });
  }

  /** Starts the timers; clients are let in from the first configuration on. */
  start(): void {
    mkdirSync(this.#config.dataDir, { recursive: true });
    this.#metrics.load();
    this.#every(HEARTBEAT_INTERVAL_MS, () => beat(this.#cluster));
    this.#every(BUFFER_CHECK_INTERVAL_MS, () => this.#closeSlowConsumers());
    this.#every(SAMPLE_INTERVAL_MS, () => this.#metrics.sample(this.#samples()));
    this.#every(SAVE_INTERVAL_MS, () => void this.#metrics.save());
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

  series(id: string, periodSeconds: number): Series {
    return this.#metrics.series(id, periodSeconds);
  }

  stats(): RealtimeStats {
    const applications = [...this.#cluster.applications()].map(({ config, connections, counters }) => ({
      id: config.id,
      connections: connections.size,
      messagesReceived: counters.received,
      messagesSent: counters.sent,
      slowConsumers: counters.slowConsumers,
      webhooks: this.#webhooks.get(config.id)?.counters ?? NO_WEBHOOKS,
    }));
    return { connections: this.#cluster.connectionCount, applications };
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
    this.#metrics.sample(this.#samples());
    await this.#metrics.save();
    await Promise.all([...this.#webhooks.values()].map((webhooks) => webhooks.close()));
  }

  #webhooksOf({ id, webhooks }: WebSocketApplication): Webhooks {
    const made = new Webhooks({
      applicationId: id,
      credentials: () => this.#credentialsOf(id),
      spoolFile: join(this.#config.dataDir, `webhooks-${id}`),
      allowPrivate: this.#config.allowPrivateWebhooks,
      waiting: this.#waiting,
      debug: () => this.#cluster.applicationById(id)?.debug ?? null,
      log: this.#log.child({ application: id }),
    });
    this.#webhooks.set(id, made);
    made.configure(webhooks);
    void made.resume();
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
    this.#metrics.forget(new Set([this.#config.id, ...kept]));
  }

  #publish(topic: string, frame: string): void {
    this.#backlog.bytes += frame.length;
    this.#listener?.publish(topic, frame);
  }

  #closeSlowConsumers(): void {
    if (this.#backlog.bytes < UNCHECKED_BYTES) return;
    this.#backlog.bytes = 0;
    const count = closeSlowConsumers(this.#cluster);
    if (count > 0) this.#log.warn({ count }, "clients that did not read were closed");
  }

  #samples() {
    const applications = [...this.#cluster.applications()].map(({ config, connections, counters }) => ({
      id: config.id,
      connectionCount: connections.size,
      messagesReceived: counters.received,
      messagesSent: counters.sent,
    }));
    const sum = (of: (each: (typeof applications)[number]) => number) =>
      applications.reduce((total, each) => total + of(each), 0);
    const all = {
      id: this.#config.id,
      connectionCount: sum((each) => each.connectionCount),
      messagesReceived: sum((each) => each.messagesReceived),
      messagesSent: sum((each) => each.messagesSent),
    };
    return [all, ...applications];
  }

  #every(intervalMs: number, act: () => void): void {
    this.#timers.push(setInterval(act, intervalMs));
  }
}
