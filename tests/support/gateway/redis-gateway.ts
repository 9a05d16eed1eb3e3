// A real Valkey or Redis behind the gateway's own code, in this process, started and stopped as the host does.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../src/config.ts";
import { commandOf, findEngines, type FoundEngine } from "../../../src/engines/installed.ts";
import type { GatewayMessage, Route } from "../../../src/contracts/gateway-link.ts";
import { redisHandler } from "../../../src/gateway/redis/index.ts";
import { sha256Hex } from "../../../src/lib/secrets.ts";
import { enginePath } from "../clients/engine-programs.ts";
import { HandlerGateway } from "./handler-gateway.ts";
import { until } from "../pilvi/pilvi.ts";
import { RawRedis } from "../wire/redis-raw.ts";

export const PASSWORD = "right-password";
export const ENGINES = ["valkey", "redis"] as const;

const RULES =
  "~* &* +@all -@admin -@dangerous +info +keys +flushdb +flushall +sort +sort_ro +role +client|list";
const NAMES = ["default", "app"];
const USERS = NAMES.map((name) => ({ name, verifier: sha256Hex(PASSWORD) }));

function rulesFor(...passwords: string[]): string {
  const hashes = passwords.map((password) => `#${sha256Hex(password)}`).join(" ");
  return NAMES.map((name) => `user ${name} on ${hashes} ${RULES}\n`).join("");
}

/** A cache behind the gateway; asleep at first. */
export class RedisGateway extends HandlerGateway {
  /** Answers a request for the users as the host does. */
  onUsers = () => this.update({});
  readonly #engine: FoundEngine;
  readonly #folder: string;
  #process: Bun.Subprocess | null = null;
  /** The password that the engine takes from its next start on. */
  #password = PASSWORD;

  /** @param extra lines of the engine's configuration. */
  static async create(name: (typeof ENGINES)[number], extra: string[] = []): Promise<RedisGateway> {
    const engines = await findEngines(loadConfig(process.env).enginesDir);
    const engine = engines.find((each) => each.name === name);
    if (engine === undefined) throw new Error(`${name} is not installed`);
    const folder = mkdtempSync(join(tmpdir(), "pilvi-redis-gateway-"));
    writeFileSync(join(folder, "users.acl"), rulesFor(PASSWORD));
    const settings = ["port 0", "unixsocket engine.sock", "aclfile users.acl", "appendonly yes", ...extra];
    writeFileSync(join(folder, "engine.conf"), `${settings.join("\n")}\n`);
    return new RedisGateway(engine, folder);
  }

  private constructor(found: FoundEngine, folder: string) {
    const { name, version } = found;
    const engine = { name, version };
    const socket = join(folder, "engine.sock");
    super(redisHandler, { id: "cache-1", protocol: "redis", socket, engine, state: "asleep", users: USERS });
    this.#engine = found;
    this.#folder = folder;
  }

  /** The credentials and the address for a client. */
  get url(): string {
    return `redis://:${PASSWORD}@127.0.0.1:${this.port}`;
  }

  get socket(): string {
    return this.entry.socket;
  }

  get state(): Route["state"] {
    return this.entry.state;
  }

  /** A program of the engine, for example its command line, and its environment. */
  program(name: string): { path: string; env: Record<string, string> } {
    return { path: enginePath(this.#engine, name), env: this.#engine.env };
  }

  /**
   * Rotates the password of all users; an engine that runs goes on with the passwords that it has.
   * @param former a password that stays valid beside it, until a time.
   */
  rotate(password: string, former?: { password: string; expiresAt: string }): void {
    this.#password = password;
    const passwords = former === undefined ? [password] : [password, former.password];
    writeFileSync(join(this.#folder, "users.acl"), rulesFor(...passwords));
    const verifier = sha256Hex(password);
    const kept = former && { verifier: sha256Hex(former.password), expiresAt: former.expiresAt };
    this.update({
      users: NAMES.map((name) =>
        kept === undefined ? { name, verifier } : { name, verifier, former: kept },
      ),
    });
  }

  /** Starts the engine as the host does. */
  async wake(): Promise<void> {
    this.update({ state: "starting" });
    this.#process = Bun.spawn([...commandOf(this.#engine), "engine.conf"], {
      cwd: this.#folder,
      env: this.#engine.env,
      stdio: ["ignore", "ignore", "ignore"],
    });
    await until("the engine answers", () => this.#answers());
    this.update({ state: "running" });
  }

  /**
   * Disconnects all clients from the engine and stops it cleanly, as the host does with an idle engine, whether it is
   * idle or not.
   */
  async stop(): Promise<void> {
    await this.disconnectBy("disconnect");
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

  override async close(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.exited;
    await super.close();
    rmSync(this.#folder, { recursive: true });
  }

  protected receive(message: GatewayMessage): void {
    if (message.type === "users") queueMicrotask(() => this.onUsers());
    if (message.type !== "wake" || this.state === "failed") return;
    this.wakes.push(message.reason);
    if (this.state === "asleep") void this.wake();
  }

  async #answers(): Promise<boolean> {
    try {
      const raw = await this.dialEngine();
      return (await raw.askAll(`AUTH ${this.#password}\r\nPING\r\nQUIT\r\n`)).includes("+PONG");
    } catch {
      return false;
    }
  }
}
