// A real edge with the host's own code for its routes, and applications that the test itself serves on loopback.
import { EDGE_ID } from "../../../src/contracts/edge-id.ts";
import { NO_POLICY, type EdgePolicy, type EdgeRoute } from "../../../src/contracts/edge-route.ts";
import type { EdgeSpec } from "../../../src/contracts/instance-spec.ts";
import type { Certificate } from "../../../src/engines/engine.ts";
import { haproxy } from "../../../src/engines/haproxy/index.ts";
import { Edge } from "../../../src/host/edge/edge.ts";
import type { EdgeAccess } from "../../../src/host/edge/edge-host.ts";
import type { EdgeInstance } from "../../../src/host/edge/wake-queue.ts";
import { createLog } from "../../../src/lib/log.ts";
import type { Runnable } from "../../../src/host/engine/runner-parts.ts";
import { freePort } from "../pilvi/ports.ts";
import { installedEngine, LoneEngine } from "./lone-engine.ts";

export interface LoneEdgeOptions {
  /** HTTPS with this certificate. */
  certificate?: Certificate;
  maxConnections?: number;
  maxConnectionsPerAddress?: number;
  /** Another HAProxy than that of this release. */
  engine?: typeof haproxy;
  /** Takes what the edge writes and counts; nothing does when left out. */
  access?: (dataDir: string) => EdgeAccess;
}

/** An application of a test. */
export interface TestApplication extends EdgeInstance {
  /** How often it was woken. */
  wakes: number;
}

export class LoneEdge {
  readonly engine: LoneEngine<EdgeSpec>;
  readonly port: number;
  readonly httpsPort: number | null;
  readonly applications = new Map<string, TestApplication>();
  /** The certificate that the host has now. */
  certificate: Certificate | null;
  edge: Edge;
  readonly #access: LoneEdgeOptions["access"];
  #isRunning = false;
  #servers: { stop(force: boolean): unknown }[] = [];

  static async start(options: LoneEdgeOptions = {}): Promise<LoneEdge> {
    const lone = new LoneEdge(await installedEngine("haproxy"), options);
    lone.edge.start();
    await lone.startEngine();
    return lone;
  }

  private constructor(installed: Awaited<ReturnType<typeof installedEngine>>, options: LoneEdgeOptions) {
    const { certificate = null, maxConnections = 4_000, maxConnectionsPerAddress = 3_000 } = options;
    this.certificate = certificate;
    this.#access = options.access;
    this.port = freePort();
    this.httpsPort = certificate === null ? null : freePort();
    const spec: EdgeSpec = {
      kind: "edge",
      id: EDGE_ID,
      engines: ["haproxy"],
      users: [],
      exposure: { port: this.port, scope: "loopback", through: "engine" },
      httpsPort: this.httpsPort,
      maxConnections,
      maxConnectionsPerAddress,
    };
    this.engine = new LoneEngine(options.engine ?? haproxy, installed, spec, { certificate });
    this.edge = this.#newEdge();
  }

  /** @param meanwhile what the host does before it knows that the edge runs. */
  async startEngine(meanwhile?: () => Promise<void>): Promise<void> {
    await this.engine.start(() => this.edge.beforeStart(this.#runnable.context));
    await meanwhile?.();
    this.#isRunning = true;
    this.edge.changed({ id: EDGE_ID, state: "running" });
  }

  /** Kills the edge at once, as an operator or the kernel might. */
  async killEngine(): Promise<void> {
    await this.engine.stop("SIGKILL");
    this.#isRunning = false;
    this.edge.changed({ id: EDGE_ID, state: "starting" });
  }

  /** Ends the host's part without a word, as a kill does. */
  killHost(): void {
    this.edge.stop();
  }

  /** Another host takes up what the former left on the disk. */
  startHost(): void {
    this.edge = this.#newEdge();
    this.edge.start();
    if (this.#isRunning) this.edge.changed({ id: EDGE_ID, state: "running" });
  }

  /** Serves an application, as an instance that runs. */
  serve(id: string, handle: (request: Request) => Response | Promise<Response>): TestApplication {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: handle });
    this.#servers.push(server);
    return this.add(id, "running", server.port ?? 0);
  }

  /** Adds an application, or replaces it. @param wake what a wake does. */
  add(id: string, state: EdgeInstance["state"], port: number, wake: () => void = () => {}): TestApplication {
    const application: TestApplication = { state, port, answers: true, wakes: 0, wake: () => {} };
    application.wake = () => {
      application.wakes += 1;
      wake();
    };
    this.applications.set(id, application);
    this.edge.changed({ id, state });
    return application;
  }

  /** Has the host observe another state of an application. */
  change(id: string, changes: Partial<Pick<TestApplication, "state" | "port">>): void {
    const application = this.applications.get(id);
    if (application === undefined) throw new Error(`there is no application ${id}`);
    Object.assign(application, changes);
    this.edge.changed({ id, state: application.state });
  }

  /** Leads names to an application. */
  async route(
    id: string,
    names: string[],
    instance: string | string[] | null = id,
    timeoutSeconds = 30,
    policy: Partial<EdgePolicy> = {},
  ): Promise<void> {
    await this.edge.ensure(routeOf(id, names, instance, timeoutSeconds, policy));
  }

  /** Asks for a name over HTTP/1.1. */
  async get(name: string, path = "/", init: RequestInit = {}): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string>), host: name };
    return await fetch(`http://127.0.0.1:${this.port}${path}`, { redirect: "manual", ...init, headers });
  }

  /** Sends bytes as they are, and returns all that comes until the edge closes. */
  async raw(text: string | Uint8Array): Promise<string> {
    return await rawExchange(this.port, text);
  }

  /** Has an application served until the test ends. */
  keep(server: { stop(force: boolean): unknown }): void {
    this.#servers.push(server);
  }

  async close(): Promise<void> {
    this.edge.stop();
    for (const server of this.#servers) await server.stop(true);
    await this.engine.close();
  }

  get #runnable(): Runnable {
    return { engine: haproxy, context: this.engine.context } as unknown as Runnable;
  }

  #newEdge(): Edge {
    return new Edge({
      dataDir: this.engine.dataDir,
      certificate: () => this.certificate,
      find: (id) => this.applications.get(id) ?? null,
      running: () => (this.#isRunning ? this.#runnable : null),
      uid: () => this.engine.context.account?.uid ?? null,
      ...(this.#access !== undefined && { access: this.#access(this.engine.dataDir) }),
      log: createLog("host", "silent"),
    });
  }
}

/** A route with usual settings. */
export function routeOf(
  id: string,
  names: string[],
  instance: string | string[] | null = id,
  timeoutSeconds = 30,
  policy: Partial<EdgePolicy> = {},
): EdgeRoute {
  const instances = instance === null ? [] : [instance].flat();
  return { id, names, instances, settings: { timeoutSeconds, policy: { ...NO_POLICY, ...policy } } };
}

/** Sends bytes to a port, and returns all that comes until the other side closes. */
export async function rawExchange(port: number, text: string | Uint8Array): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const parts: Uint8Array[] = [];
  let unsent = Buffer.from(text as string);
  const flush = (socket: Bun.Socket) => {
    unsent = unsent.subarray(Math.max(0, socket.write(unsent)));
  };
  const done = () => resolve(Buffer.concat(parts).toString());
  await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      open: flush,
      drain: flush,
      data: (_, bytes) => void parts.push(Uint8Array.from(bytes)),
      end: (socket) => void socket.end(),
      close: done,
      error: done,
    },
  });
  return await promise;
}
