// A MariaDB behind the gateway's own code, in this process; it sleeps only in the gateway's view.
import type { GatewayMessage } from "../../../src/contracts/gateway-link.ts";
import { mysqlHandler } from "../../../src/gateway/mysql/index.ts";
import type { TlsPolicy } from "../../../src/gateway/sockets/client-socket.ts";
import { HandlerGateway } from "./handler-gateway.ts";
import type { TestMariaDb } from "../engines/mariadb.ts";

interface StoredUser {
  name: string;
  verifier: string;
}

export class MysqlGateway extends HandlerGateway {
  /** Wakes the engine as the host does on request. */
  onWake = () => this.become("running");
  readonly #server: TestMariaDb;

  constructor(server: TestMariaDb, policy: Partial<TlsPolicy> = {}) {
    const { version, socket } = server;
    const engine = { name: "mariadb", version } as const;
    super(mysqlHandler, { id: "db-1", protocol: "mysql", socket, engine, state: "running" }, policy);
    this.#server = server;
  }

  /** Sends the gateway the engine's present users. */
  async learnUsers(): Promise<void> {
    const users = await this.#server.admin<StoredUser>(
      "select user as name, json_value(priv, '$.authentication_string') as verifier from global_priv where host = '%'",
    );
    this.update({ users });
  }

  /** Suspends it as the host does, in the gateway's view. */
  async sleep(): Promise<void> {
    await this.learnUsers();
    if ((await this.drain()) === "busy") throw new Error("something is under way");
    this.backend.disconnectIfIdle();
    this.become("asleep");
    await this.untilAllGone();
  }

  protected receive(message: GatewayMessage): void {
    // A full engine does not answer, and the known users stay.
    if (message.type === "users") void this.learnUsers().catch(() => this.update({}));
    if (message.type !== "wake") return;
    this.wakes.push(message.reason);
    queueMicrotask(() => this.onWake());
  }
}
