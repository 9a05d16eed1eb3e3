// A Postgres behind the gateway's own code, in this process, started and stopped as the host does.
import type { GatewayMessage } from "../../../src/contracts/gateway-link.ts";
import { postgresHandler } from "../../../src/gateway/postgres/index.ts";
import type { TlsPolicy } from "../../../src/gateway/sockets/client-socket.ts";
import { HandlerGateway } from "./handler-gateway.ts";
import { until } from "../pilvi/pilvi.ts";
import type { TestPostgres } from "../engines/postgres-engine.ts";

/** The host's query before it stops the engine; a starting backend has no user yet. */
const BUSY = `select from pg_stat_activity
  where backend_type = 'client backend' and state not in ('idle', 'starting') and pid <> pg_backend_pid()`;

export class PostgresGateway extends HandlerGateway {
  /** Wakes the engine as the host does on request. */
  onWake: () => void | Promise<void> = () => this.#wake();
  /** How often it has asked for the users. */
  questions = 0;
  /** How often it has connected to the engine for a client before the login. */
  dials = 0;
  readonly #server: TestPostgres;
  #changes = Promise.resolve();
  #isWanted = false;

  /** @param id of the instance, the only difference between two gateways in front of the same server. */
  constructor(server: TestPostgres, policy: Partial<TlsPolicy> = {}, id = "db-1") {
    const { version, socket, isRunning } = server;
    const engine = { name: "postgres", version } as const;
    const state = isRunning ? "running" : "asleep";
    super(postgresHandler, { id, protocol: "postgres", socket, engine, state }, policy);
    this.#server = server;
    const connect = this.backend.connectIfRunning.bind(this.backend);
    this.backend.connectIfRunning = (options) => {
      this.dials += 1;
      return connect(options);
    };
  }

  /** Sends the gateway the engine's present users. */
  async learnUsers(): Promise<void> {
    this.update({ users: await this.#server.users(), mockNonce: this.#server.mockNonce });
  }

  /** Suspends it as the host does. */
  async sleep(): Promise<void> {
    if ((await this.drain()) === "busy") throw new Error("something is under way");
    await this.fallAsleep();
  }

  override async drain(withinMs?: number): Promise<"drained" | "busy"> {
    const end = await super.drain(withinMs);
    await until("the engine is idle", async () => (await this.#server.admin(BUSY)).length === 0);
    return end;
  }

  /** The second half of a suspend. */
  async fallAsleep(): Promise<void> {
    await this.learnUsers();
    await this.disconnectBy("disconnectIfIdle");
    await this.#next(async () => {
      await this.#server.stop();
      this.become("asleep");
    });
    if (this.#isWanted) await this.onWake();
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#changes;
  }

  protected receive(message: GatewayMessage): void {
    if (message.type === "users") {
      this.questions += 1;
      queueMicrotask(() => void this.#sendUsers());
    }
    if (message.type !== "wake") return;
    this.wakes.push(message.reason);
    this.#isWanted = true;
    queueMicrotask(() => void this.onWake());
  }

  /** A sleeping engine has the users that it had. */
  async #sendUsers(): Promise<void> {
    if (this.#server.isRunning) await this.learnUsers();
    else this.update({});
  }

  #wake(): Promise<void> {
    return this.#next(async () => {
      // A client that arrives during the suspend is served after it.
      if (this.#server.isRunning) return;
      this.#isWanted = false;
      this.become("starting");
      await this.#server.run();
      this.become("running");
    });
  }

  /** Changes of the engine run in order, as the host runs them. */
  #next(change: () => Promise<void>): Promise<void> {
    this.#changes = this.#changes.then(change);
    return this.#changes;
  }
}
