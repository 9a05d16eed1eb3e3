// A real realtime server for tests: its own process, port and folder, configured over its control socket.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Pusher from "pusher";
import { REALTIME_VERSION, realtimePath } from "../../../src/contracts/versions.ts";
import type { ClusterConfig, ProcessConfig, RealtimeStats } from "../../../src/contracts/realtime.ts";
import { readJsonAs } from "../../../src/contracts/read.ts";
import { debugEventSchema, type DebugEvent } from "../../../src/contracts/realtime-debug.ts";
import { readLines } from "../../../src/contracts/lines.ts";
import type { WebSocketApplication } from "../../../src/contracts/websocket-application.ts";
import { freshDataDir, until } from "../pilvi/pilvi.ts";
import { freePort } from "../pilvi/ports.ts";

const MAIN = resolve(import.meta.dir, "../../../src/realtime/main.ts");

export const APP = { appId: "1001", key: "app-key", secret: "app-secret" };

/** An application as the control plane describes it. */
export function application(overrides: Partial<WebSocketApplication> = {}): WebSocketApplication {
  return {
    id: "app",
    appId: APP.appId,
    key: APP.key,
    secrets: [{ secret: APP.secret, expiresAt: null }],
    allowedOrigins: [],
    pingIntervalSeconds: 60,
    activityTimeoutSeconds: 30,
    maxMessageBytes: 10_000,
    maxConnections: 10_000,
    clientEventsEnabled: true,
    subscriptionCountEnabled: false,
    webhooks: [],
    ...overrides,
  };
}

/** Starts a server, and resolves when clients can connect. */
export async function startRealtime(overrides: Partial<WebSocketApplication> = {}): Promise<TestRealtime> {
  const realtime = new TestRealtime();
  await realtime.start();
  await realtime.configure(overrides);
  return realtime;
}

export class TestRealtime {
  readonly folder = freshDataDir();
  readonly port = freePort();
  /** Set before the start when clients must speak TLS. */
  certificate: ProcessConfig["certificate"] = null;
  readonly #controlSocket = join(this.folder, "control.sock");
  #process: Bun.Subprocess<"ignore", "ignore", Bun.BunFile> | undefined;

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    if (this.#process === undefined) throw new Error("this server does not run");
    return this.#process.pid;
  }

  /** The log of the server so far. */
  get log(): string {
    return readFileSync(join(this.folder, "log"), "utf8");
  }

  /** Resolves when the control socket answers. */
  async start(): Promise<void> {
    const dataDir = join(this.folder, "data");
    mkdirSync(dataDir, { recursive: true });
    const config: ProcessConfig = {
      version: REALTIME_VERSION,
      id: "test",
      address: "127.0.0.1",
      port: this.port,
      controlSocket: this.#controlSocket,
      dataDir,
      certificate: this.certificate,
      allowPrivateWebhooks: true,
    };
    const configFile = join(this.folder, "config.json");
    writeFileSync(configFile, JSON.stringify(config));
    this.#process = Bun.spawn([process.execPath, MAIN, configFile], {
      stdio: ["ignore", "ignore", Bun.file(join(this.folder, "log"))],
    });
    await until("the realtime server answers", async () => {
      if (this.#process?.exitCode !== null) throw new Error(`the realtime server ended: ${this.log}`);
      return (await this.#ask(realtimePath("/health")).catch(() => null))?.ok === true;
    });
  }

  /** Gives it a single application, with the given settings. */
  async configure(overrides: Partial<WebSocketApplication> = {}): Promise<void> {
    await this.configureAll({ maxConnections: 10_000, applications: [application(overrides)] });
  }

  async configureAll(config: ClusterConfig): Promise<void> {
    const response = await this.#ask(realtimePath("/config"), {
      method: "PUT",
      body: JSON.stringify(config),
    });
    if (response.status !== 204) throw new Error(`PUT /config: ${response.status} ${await response.text()}`);
  }

  /** The official library of servers, configured for the application. */
  pusher(options: Partial<Pusher.BaseOptions> = {}): Pusher {
    const { port } = this;
    return new Pusher({ ...APP, host: "127.0.0.1", port: String(port), useTLS: false, ...options });
  }

  async stats(): Promise<RealtimeStats> {
    return (await (await this.#ask(realtimePath("/stats"))).json()) as RealtimeStats;
  }

  /** The reports of an application, from `watching` on, until the signal is aborted. */
  async *debug(id: string, signal: AbortSignal): AsyncGenerator<DebugEvent> {
    const response = await this.#ask(realtimePath(`/debug?id=${id}`), { signal });
    if (!response.ok || response.body === null) throw new Error(await response.text());
    for await (const line of readLines(response.body)) yield readJsonAs(debugEventSchema, line, "The report");
  }

  /** The resident memory of the process, in bytes. */
  residentBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  /** Stops it. @returns its exit code. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.#process?.kill(signal);
    await this.#process?.exited;
    return this.#process?.exitCode ?? null;
  }

  /** Ends it, cleanly or not, and deletes its folder. */
  async close(): Promise<void> {
    await this.stop("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }

  #ask(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`http://realtime${path}`, { ...init, unix: this.#controlSocket });
  }
}
