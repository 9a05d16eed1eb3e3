// Shared parts of the sleep tests: a host with real engines, and a gateway with the link's protocol but no clients.
import { SQL, type Socket } from "bun";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { freshDataDir, until } from "../../tests/support/pilvi/pilvi.ts";
import { enginePidsAt } from "../../tests/support/pilvi/processes.ts";
import { freePort } from "../../tests/support/pilvi/ports.ts";
import { loadConfig } from "../config.ts";
import type { GatewayMessage, HostMessage, Route } from "../contracts/gateway-link.ts";
import type { InstanceSpec, MysqlSpec, PostgresSpec } from "../contracts/instance-spec.ts";
import { cacheSpec } from "../drivers/test-support.ts";
import { isHello } from "../contracts/test-support.ts";
import { GATEWAY_LINK_VERSION, helloLine } from "../contracts/versions.ts";
import { newId } from "../lib/ids.ts";
import { createLog } from "../lib/log.ts";
import { nativeVerifier, scramVerifier } from "../lib/verifiers.ts";
import type { HostSettings } from "./engine/context.ts";
import { Host } from "./host.ts";
import { gatewaySocket } from "./os/layout.ts";

/** Any valid reason for a wake. */
export const REASON = { user: "app", database: "main", address: "127.0.0.1:50000" };

/** A gateway whose answers the test sets. */
export class TestGateway {
  readonly entries = new Map<string, Route>();
  readonly received: HostMessage[] = [];
  /** The answer to a drain; null gives no answer. */
  drainAnswer: "drained" | "busy" | null = "drained";
  /** Called before the gateway answers that all clients are disconnected. */
  onDetach: () => void = () => undefined;
  #socket: Socket | null = null;
  #unread = "";
  #unsent = Buffer.alloc(0);

  /** @param hello the first line. The host sends no entries to a gateway whose version it does not speak. */
  static async connect(dataDir: string, hello = helloLine(GATEWAY_LINK_VERSION)): Promise<TestGateway> {
    const gateway = new TestGateway();
    gateway.#socket = await Bun.connect({
      unix: gatewaySocket(dataDir),
      socket: {
        data: (_, bytes) => gateway.#take(bytes.toString()),
        drain: () => gateway.#flush(),
        close: () => void (gateway.#socket = null),
      },
    });
    gateway.sendBytes(Buffer.from(hello));
    await until(
      "the host has sent its routes",
      () => !gateway.isConnected || gateway.received.some(({ type }) => type === "synced"),
    );
    return gateway;
  }

  get isConnected(): boolean {
    return this.#socket !== null;
  }

  send(message: GatewayMessage): void {
    this.sendBytes(Buffer.from(`${JSON.stringify(message)}\n`));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#unsent = Buffer.concat([this.#unsent, bytes]);
    this.#flush();
  }

  close(): void {
    this.#socket?.end();
  }

  /** The states of an instance that the host sent, in order. */
  statesOf(id: string): Route["state"][] {
    const states = this.received.flatMap((each) => (each.type === "entry" ? [each.entry] : []));
    return states
      .filter((entry) => entry.id === id)
      .map(({ state }) => state)
      .filter((state, index, all) => state !== all[index - 1]);
  }

  async until(id: string, state: Route["state"]): Promise<Route> {
    await until(`${id} is ${state}`, () => this.entries.get(id)?.state === state);
    const entry = this.entries.get(id);
    if (entry === undefined) throw new Error(`the gateway received no route of ${id}`);
    return entry;
  }

  /** Wakes an instance as for a client that has logged in, once the gateway has received that it does not run. */
  async wake(id: string): Promise<Route> {
    await until(`${id} is known not to run`, () => this.entries.get(id)?.state !== "running");
    this.send({ type: "wake", id, reason: REASON });
    return await this.until(id, "running");
  }

  #flush(): void {
    const taken = this.#socket?.write(this.#unsent) ?? 0;
    this.#unsent = this.#unsent.subarray(Math.max(0, taken));
  }

  #take(text: string): void {
    const lines = (this.#unread + text).split("\n");
    this.#unread = lines.pop() ?? "";
    for (const line of lines) if (!isHello(line)) this.#receive(JSON.parse(line) as HostMessage);
  }

  #receive(message: HostMessage): void {
    this.received.push(message);
    switch (message.type) {
      case "entries":
        for (const id of this.entries.keys()) if (!message.ids.includes(id)) this.entries.delete(id);
        break;
      case "entry":
        this.entries.set(message.entry.id, message.entry);
        break;
      case "gone":
        this.entries.delete(message.id);
        this.send({ type: "released", id: message.id });
        break;
      case "drain":
        if (this.drainAnswer !== null) this.send({ type: this.drainAnswer, id: message.id });
        break;
      case "detach":
        this.onDetach();
        this.send({ type: "detached", id: message.id });
        break;
    }
  }
}

/** How long a host of a test waits for engines that run: longer than any of them may take on a busy machine. */
export const ADOPTION_MS = 60_000;

/** The settings of a host of a test. */
export function hostSettings(folders: Pick<HostSettings, "dataDir" | "enginesDir">): HostSettings {
  return {
    ...folders,
    ownEngines: [],
    bind: "127.0.0.1",
    certificate: null,
    warmSlots: 0,
    cgroups: null,
    allowPrivateWebhooks: false,
  };
}

/** A data directory with consecutive hosts. */
export class TestHosts {
  readonly dataDir = freshDataDir();
  readonly settings = hostSettings({
    dataDir: this.dataDir,
    enginesDir: loadConfig(process.env).enginesDir,
  });
  readonly #hosts: Host[] = [];
  readonly #gateways: TestGateway[] = [];

  /** Starts a host in place of the previous, which leaves its engines running. */
  async start(): Promise<Host> {
    this.#hosts.at(-1)?.release();
    const host = new Host(this.settings, createLog("host", "silent"));
    this.#hosts.push(host);
    await host.start();
    return host;
  }

  async gateway(): Promise<TestGateway> {
    const gateway = await TestGateway.connect(this.dataDir);
    this.#gateways.push(gateway);
    return gateway;
  }

  pidsOf(id: string): number[] {
    return enginePidsAt(join(this.dataDir, "instances", id));
  }

  /** Ends everything; the last host has all engines. */
  async close(): Promise<void> {
    for (const gateway of this.#gateways) gateway.close();
    await this.#hosts.at(-1)?.close();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

/** A spec of a database cluster or a cache behind the gateway. */
export function sleepySpec(kind: "cache" | "postgres" | "mysql", overrides: object = {}): InstanceSpec {
  const exposure = { port: freePort(), scope: "loopback", through: "gateway" } as const;
  if (kind === "cache")
    return cacheSpec(exposure.port, "moi", { exposure, sleepAfterSeconds: 60, ...overrides });
  const id = newId("db");
  const common = {
    id,
    version: null,
    memoryBytes: 512 * 1024 ** 2,
    cpus: null,
    maxConnections: 20,
    databases: [{ name: "main", owner: "app", desiredState: "present" as const }],
    exposure,
    sleepAfterSeconds: 60,
  };
  if (kind === "postgres") {
    const users = [{ name: "app", verifier: scramVerifier("moi", id) }];
    return { ...common, kind, engines: ["postgres"], users, ...overrides } satisfies PostgresSpec;
  }
  const users = [{ name: "app", verifier: nativeVerifier("moi") }];
  return { ...common, kind, engines: ["mariadb"], users, ...overrides } satisfies MysqlSpec;
}

/** Logs in as the customer at the engine's unix socket, as the gateway would for a client. */
export function customerDatabase(adapter: "postgres" | "mysql", { socket }: Route, database = "main"): SQL {
  return new SQL({ adapter, path: socket, username: "app", password: "moi", database, max: 1 });
}

/** Like `customerDatabase`, for a cache. */
export function customerCache({ socket }: Route): Bun.RedisClient {
  return new Bun.RedisClient(`redis+unix://default:moi@localhost${socket}`, { autoReconnect: false });
}
