// The gateway's own loop in front of a MariaDB, in this process, with the test in the place of the host.
import { InstanceBackend } from "../../src/gateway/instance-backend.ts";
import type { Entry, EntryState, EntryUser, GatewayMessage, WakeReason } from "../../src/gateway/link.ts";
import { mysqlFront } from "../../src/gateway/mysql/index.ts";
import { ClientSocket, type TlsPolicy } from "../../src/gateway/reactor/client-socket.ts";
import { Listener } from "../../src/gateway/reactor/listener.ts";
import { Reactor } from "../../src/gateway/reactor/reactor.ts";
import type { TestMariaDb } from "./mariadb.ts";
import { until } from "./pilvi.ts";
import { freePort } from "./ports.ts";

interface StoredUser {
  name: string;
  verifier: string;
}

export class MysqlGateway {
  readonly port = freePort();
  /** What fronts threw, which they must not. */
  readonly faults: unknown[] = [];
  /** All wakes that were asked for. */
  readonly wakes: WakeReason[] = [];
  /** How often the host was asked for the users. */
  usersAsked = 0;
  /** Does what the host does when it is asked to wake the engine. */
  onWake = () => this.become("running");
  readonly #reactor = new Reactor();
  readonly #server: TestMariaDb;
  readonly #policy: TlsPolicy;
  readonly #backend: InstanceBackend;
  readonly #listener: Listener;
  readonly #clients = new Set<ClientSocket>();
  /** Those whose peers have not closed them yet. */
  readonly #open = new Set<ClientSocket>();
  readonly #interval: ReturnType<typeof setInterval>;
  #turns = 0;
  readonly #heard = new Set<GatewayMessage["type"]>();

  constructor(server: TestMariaDb, policy: Partial<TlsPolicy> = {}) {
    this.#server = server;
    this.#policy = { session: null, mustStartTls: false, ...policy };
    this.#backend = new InstanceBackend(this.#reactor, this.#entry("running"), (message) =>
      this.#hear(message),
    );
    this.#listener = new Listener(this.#reactor, { address: "127.0.0.1", port: this.port }, (fd, address) =>
      this.#accept(fd, address),
    );
    this.#interval = setInterval(() => {
      this.#reactor.turn(0);
      this.#turns += 1;
    }, 1);
  }

  /** How many clients are connected. */
  get clients(): number {
    return this.#clients.size;
  }

  /** Tells the gateway the users that the engine has now. */
  async learnUsers(): Promise<void> {
    const users = await this.#server.admin<StoredUser>(
      "select user as name, json_value(priv, '$.authentication_string') as verifier from global_priv where host = '%'",
    );
    this.#backend.update({ ...this.#backend.entry, users });
  }

  /** Tells the gateway of these users. */
  setUsers(users: EntryUser[]): void {
    this.#backend.update({ ...this.#backend.entry, users });
  }

  become(state: EntryState, lastError: string | null = null): void {
    this.#backend.update({ ...this.#backend.entry, state, lastError });
  }

  /** Begins to put it to sleep as the host does. @returns what resolves with whether nothing was under way in the end. */
  drain(withinMs: number): Promise<boolean> {
    this.become("draining");
    this.#heard.delete("drained");
    this.#heard.delete("busy");
    this.#backend.drain(withinMs);
    const isOver = () => this.#heard.has("drained") || this.#heard.has("busy");
    return until("the drain is over", isOver).then(() => this.#heard.has("drained"));
  }

  /** Puts it to sleep as the host does, as far as the gateway sees it. */
  async sleep(): Promise<void> {
    await this.learnUsers();
    if (!(await this.drain(10_000))) throw new Error("something is under way");
    this.#backend.detach();
    this.become("asleep");
    await until("the clients know that they are parted from it", () => this.#open.size === 0);
  }

  /** Resolves when all has been taken that had arrived before. */
  async turned(): Promise<void> {
    const before = this.#turns;
    while (this.#turns < before + 2) await new Promise((resolve) => setImmediate(resolve));
  }

  async close(): Promise<void> {
    this.#listener.close();
    this.#backend.close();
    this.#backend.detach();
    for (const client of this.#clients) client.close();
    await until("no client is served", () => this.#clients.size === 0);
    clearInterval(this.#interval);
    this.#reactor.stop();
    this.#reactor.run();
  }

  #entry(state: EntryState): Entry {
    const { version, socket } = this.#server;
    return {
      id: "db-1",
      protocol: "mysql",
      address: "127.0.0.1",
      port: this.port,
      socket,
      engine: { name: "mariadb", version },
      state,
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
      queueMicrotask(() => this.onWake());
    }
    if (message.type === "users") {
      this.usersAsked += 1;
      void this.learnUsers();
    }
  }

  #accept(fd: number, address: string): void {
    const client = new ClientSocket(this.#reactor, fd, address, this.#policy);
    this.#clients.add(client);
    this.#open.add(client);
    client.onGone(() => this.#open.delete(client));
    mysqlFront(client, this.#backend)
      .catch((error: unknown) => this.faults.push(error))
      .finally(() => this.#clients.delete(client));
  }
}
