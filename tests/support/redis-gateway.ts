// The gateway's own loop in front of a real Valkey or Redis, in this process, with the test in the place of the host.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig } from "../../src/config.ts";
import { findEngines, type FoundEngine } from "../../src/engines/installed.ts";
import { InstanceBackend } from "../../src/gateway/instance-backend.ts";
import type { Entry, GatewayMessage, WakeReason } from "../../src/gateway/link.ts";
import { ClientSocket, type TlsPolicy } from "../../src/gateway/reactor/client-socket.ts";
import { Listener } from "../../src/gateway/reactor/listener.ts";
import { Reactor } from "../../src/gateway/reactor/reactor.ts";
import { redisFront } from "../../src/gateway/redis/index.ts";
import { sha256Hex } from "../../src/lib/secrets.ts";
import { until } from "./pilvi.ts";
import { freePort } from "./ports.ts";
import { RawRedis } from "./redis-raw.ts";

export const PASSWORD = "right-password";
export const ENGINES = ["valkey", "redis"] as const;

const RULES = "~* &* +@all -@admin -@dangerous +info +keys +flushdb +flushall +sort +sort_ro +role";
const USERS = ["default", "app"].map((name) => ({ name, verifier: sha256Hex(PASSWORD) }));

class WatchedSocket extends ClientSocket {
  readonly deadlines: (number | null)[] = [];

  override setDeadline(ms: number | null): void {
    this.deadlines.push(ms);
    super.setDeadline(ms);
  }
}

/** A cache behind the gateway; asleep at first. */
export class RedisGateway {
  readonly port = freePort();
  /** What fronts threw, which they must not. */
  readonly faults: unknown[] = [];
  /** All wakes that were asked for. */
  readonly wakes: WakeReason[] = [];
  /** Clients that are connected, in the order in which they came. */
  readonly clients = new Set<WatchedSocket>();
  policy: TlsPolicy = { session: null, mustStartTls: false };
  /** Does what the host does when it is asked for the users. */
  onUsers = () => this.update({});
  readonly #engine: FoundEngine;
  readonly #folder = mkdtempSync(join(tmpdir(), "pilvi-redis-gateway-"));
  readonly #reactor = new Reactor();
  readonly #backend: InstanceBackend;
  readonly #listener: Listener;
  readonly #turns: ReturnType<typeof setInterval>;
  readonly #heard: GatewayMessage["type"][] = [];
  #process: Bun.Subprocess | null = null;

  /** @param extra lines of the engine's configuration. */
  static async create(name: (typeof ENGINES)[number], extra: string[] = []): Promise<RedisGateway> {
    const engines = await findEngines(loadConfig(process.env).enginesDir);
    const engine = engines.find((each) => each.name === name);
    if (engine === undefined) throw new Error(`${name} is not installed`);
    return new RedisGateway(engine, extra);
  }

  private constructor(engine: FoundEngine, extra: string[]) {
    this.#engine = engine;
    const acl = USERS.map(({ name, verifier }) => `user ${name} on #${verifier} ${RULES}\n`).join("");
    writeFileSync(join(this.#folder, "users.acl"), acl);
    const settings = ["port 0", "unixsocket engine.sock", "aclfile users.acl", "appendonly yes", ...extra];
    writeFileSync(join(this.#folder, "engine.conf"), `${settings.join("\n")}\n`);
    this.#backend = new InstanceBackend(this.#reactor, this.#firstEntry(), (message) => this.#hear(message));
    this.#listener = new Listener(this.#reactor, { address: "127.0.0.1", port: this.port }, (fd, address) =>
      this.#accept(fd, address),
    );
    this.#turns = setInterval(() => this.#reactor.turn(0), 1);
  }

  /** All that a client needs. */
  get url(): string {
    return `redis://:${PASSWORD}@127.0.0.1:${this.port}`;
  }

  get socket(): string {
    return this.#backend.entry.socket;
  }

  get state(): Entry["state"] {
    return this.#backend.entry.state;
  }

  /** How many sessions are connected to the engine. */
  get sessions(): number {
    return this.#backend.sessions;
  }

  /** A program that belongs to the engine, such as its command line, and what it needs in its environment. */
  program(name: string): { path: string; env: Record<string, string> } {
    return { path: join(dirname(this.#engine.program), name), env: this.#engine.env };
  }

  /** How often the gateway has said something. */
  count(type: GatewayMessage["type"]): number {
    return this.#heard.filter((each) => each === type).length;
  }

  /** Tells the gateway of a change. */
  update(change: Partial<Entry>): void {
    this.#backend.update({ ...this.#backend.entry, ...change });
  }

  /** Starts the engine as the host does. */
  async wake(): Promise<void> {
    this.update({ state: "starting" });
    this.#process = Bun.spawn([this.#engine.program, "engine.conf"], {
      cwd: this.#folder,
      env: this.#engine.env,
      stdio: ["ignore", "ignore", "ignore"],
    });
    await until("the engine answers", () => this.#answers());
    this.update({ state: "running" });
  }

  /** Has the gateway let what is under way come to its end, as the host does first. */
  async drain(withinMs = 10_000): Promise<"drained" | "busy"> {
    const before = this.count("drained");
    const busyBefore = this.count("busy");
    this.update({ state: "draining" });
    this.#backend.drain(withinMs);
    await until("it is drained", () => this.count("drained") > before || this.count("busy") > busyBefore);
    return this.count("drained") > before ? "drained" : "busy";
  }

  /** Parts all clients from the engine and stops it cleanly, as the host does when all is quiet, whether it is or not. */
  async stop(): Promise<void> {
    const before = this.count("detached");
    this.#backend.part();
    await until("the clients are parted from it", () => this.count("detached") > before);
    this.#process?.kill("SIGTERM");
    await this.#process?.exited;
    this.#process = null;
    this.update({ state: "asleep" });
  }

  async sleep(): Promise<void> {
    if ((await this.drain()) === "busy") throw new Error("the gateway says that it is busy");
    await this.stop();
  }

  /** A connection to the gateway. */
  dial(): Promise<RawRedis> {
    return RawRedis.open(this.port);
  }

  /** A connection to the engine itself. */
  dialEngine(): Promise<RawRedis> {
    return RawRedis.open(this.socket);
  }

  async close(): Promise<void> {
    this.#listener.close();
    this.#backend.close();
    for (const client of this.clients) client.close();
    this.#process?.kill("SIGKILL");
    await this.#process?.exited;
    await until("no client is served", () => this.clients.size === 0);
    clearInterval(this.#turns);
    this.#reactor.stop();
    this.#reactor.run();
    rmSync(this.#folder, { recursive: true });
  }

  #firstEntry(): Entry {
    const { name, version } = this.#engine;
    return {
      id: "cache-1",
      protocol: "redis",
      address: "127.0.0.1",
      port: this.port,
      socket: join(this.#folder, "engine.sock"),
      engine: { name, version },
      state: "asleep",
      lastError: null,
      users: USERS,
      sleepAfterSeconds: null,
      latestStart: null,
    };
  }

  #hear(message: GatewayMessage): void {
    this.#heard.push(message.type);
    if (message.type === "users") queueMicrotask(() => this.onUsers());
    if (message.type !== "wake" || this.state === "failed") return;
    this.wakes.push(message.reason);
    if (this.state === "asleep") void this.wake();
  }

  #accept(fd: number, address: string): void {
    const client = new WatchedSocket(this.#reactor, fd, address, this.policy);
    this.clients.add(client);
    redisFront(client, this.#backend)
      .catch((error: unknown) => this.faults.push(error))
      .finally(() => this.clients.delete(client));
  }

  async #answers(): Promise<boolean> {
    try {
      const raw = await this.dialEngine();
      return (await raw.askAll(`AUTH ${PASSWORD}\r\nPING\r\nQUIT\r\n`)).includes("+PONG");
    } catch {
      return false;
    }
  }
}
