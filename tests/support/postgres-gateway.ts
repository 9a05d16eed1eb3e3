// The gateway's own loop in front of a Postgres, in this process, with the test in the place of the host.
import { InstanceBackend } from "../../src/gateway/instance-backend.ts";
import type { Entry, EntryState, EntryUser, GatewayMessage, WakeReason } from "../../src/gateway/link.ts";
import { postgresFront } from "../../src/gateway/postgres/index.ts";
import { ClientSocket, type TlsPolicy } from "../../src/gateway/reactor/client-socket.ts";
import { Listener } from "../../src/gateway/reactor/listener.ts";
import { Reactor } from "../../src/gateway/reactor/reactor.ts";
import { until } from "./pilvi.ts";
import { freePort } from "./ports.ts";
import type { TestPostgres } from "./postgres-engine.ts";

/** What the host asks the engine before it stops it; whoever is starting has not said who it is. */
const BUSY = `select from pg_stat_activity
  where backend_type = 'client backend' and state not in ('idle', 'starting') and pid <> pg_backend_pid()`;

export class PostgresGateway {
  readonly port = freePort();
  /** What fronts threw, which they must not. */
  readonly faults: unknown[] = [];
  /** All wakes that were asked for. */
  readonly wakes: WakeReason[] = [];
  /** How often the host was asked for the users. */
  usersAsked = 0;
  /** Does what the host does when it is asked to wake the engine. */
  onWake: () => void | Promise<void> = () => this.#wake();
  readonly #id: string;
  readonly #reactor = new Reactor();
  readonly #server: TestPostgres;
  readonly #policy: TlsPolicy;
  readonly #backend: InstanceBackend;
  readonly #listener: Listener;
  readonly #clients = new Set<ClientSocket>();
  readonly #turns: ReturnType<typeof setInterval>;
  readonly #heard = new Set<GatewayMessage["type"]>();
  #changes = Promise.resolve();
  #isWanted = false;

  /** @param id of the instance, which is all that tells two gateways in front of one server apart. */
  constructor(server: TestPostgres, policy: Partial<TlsPolicy> = {}, id = "db-1") {
    this.#id = id;
    this.#server = server;
    this.#policy = { session: null, mustStartTls: false, ...policy };
    this.#backend = new InstanceBackend(this.#reactor, this.#entry(), (message) => this.#hear(message));
    this.#listener = new Listener(this.#reactor, { address: "127.0.0.1", port: this.port }, (fd, address) =>
      this.#accept(fd, address),
    );
    this.#turns = setInterval(() => this.turn(), 1);
  }

  /** How many clients are connected. */
  get clients(): number {
    return this.#clients.size;
  }

  /** Has the gateway take in what has arrived. */
  turn(): void {
    this.#reactor.turn(0);
  }

  /** Tells the gateway the users that the engine has now. */
  async learnUsers(): Promise<void> {
    this.setUsers(await this.#server.users());
  }

  /** Who may log in, as the gateway knows. */
  get users(): readonly EntryUser[] {
    return this.#backend.entry.users;
  }

  /** Tells the gateway of these users. */
  setUsers(users: EntryUser[]): void {
    this.#backend.update({ ...this.#backend.entry, users });
  }

  become(state: EntryState, lastError: string | null = null): void {
    this.#backend.update({ ...this.#backend.entry, state, lastError });
  }

  /** Puts it to sleep as the host does. */
  async sleep(): Promise<void> {
    await this.drain();
    await this.fallAsleep();
  }

  /** Has everything that is under way come to its end, and whoever comes held. */
  async drain(): Promise<void> {
    this.become("draining");
    this.#heard.delete("drained");
    this.#backend.drain(10_000);
    await until("the gateway has drained", () => this.#heard.has("drained"));
    await until("the engine is idle", async () => (await this.#server.admin(BUSY)).length === 0);
  }

  /** The second half of going to sleep. */
  async fallAsleep(): Promise<void> {
    await this.learnUsers();
    this.#heard.delete("detached");
    this.#backend.detach();
    await until("all have been parted", () => this.#heard.has("detached"));
    await this.#next(async () => {
      await this.#server.stop();
      this.become("asleep");
    });
    if (this.#isWanted) await this.onWake();
  }

  async close(): Promise<void> {
    this.#listener.close();
    this.#backend.close();
    this.#backend.detach();
    for (const client of this.#clients) client.close();
    await until("no client is served", () => this.#clients.size === 0);
    await this.#changes;
    clearInterval(this.#turns);
    this.#reactor.stop();
    this.#reactor.run();
  }

  #entry(): Entry {
    const { version, socket, isRunning } = this.#server;
    return {
      id: this.#id,
      protocol: "postgres",
      address: "127.0.0.1",
      port: this.port,
      socket,
      engine: { name: "postgres", version },
      state: isRunning ? "running" : "asleep",
      lastError: null,
      users: [],
      sleepAfterSeconds: null,
      latestStart: null,
    };
  }

  #hear(message: GatewayMessage): void {
    this.#heard.add(message.type);
    if (message.type === "wake") {
      this.wakes.push(message.reason);
      this.#isWanted = true;
      queueMicrotask(() => void this.onWake());
    }
    if (message.type === "users") {
      this.usersAsked += 1;
      queueMicrotask(() => void this.#tellUsers());
    }
  }

  /** An engine that sleeps has the users that it had. */
  async #tellUsers(): Promise<void> {
    if (this.#server.isRunning) await this.learnUsers();
    else this.setUsers(this.#backend.entry.users);
  }

  #wake(): Promise<void> {
    return this.#next(async () => {
      // Whoever comes while it goes to sleep is heard when it does.
      if (this.#server.isRunning) return;
      this.#isWanted = false;
      this.become("starting");
      await this.#server.run();
      this.become("running");
    });
  }

  /** One change of the engine after the other, as the host has it. */
  #next(change: () => Promise<void>): Promise<void> {
    this.#changes = this.#changes.then(change);
    return this.#changes;
  }

  #accept(fd: number, address: string): void {
    const client = new ClientSocket(this.#reactor, fd, address, this.#policy);
    this.#clients.add(client);
    postgresFront(client, this.#backend)
      .catch((error: unknown) => this.faults.push(error))
      .finally(() => this.#clients.delete(client));
  }
}
