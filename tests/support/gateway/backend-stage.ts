// An instance behind the gateway, with a model of its engine and the test as its host, by a clock that is turned by
// hand.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InstanceBackend } from "../../../src/gateway/instance/instance-backend.ts";
import type { GatewayMessage, Route, RouteState } from "../../../src/contracts/gateway-link.ts";
import { Loop } from "./loop.ts";
import { ModelEngine } from "../model/engine.ts";

export class BackendStage {
  /** The time of the loop. */
  nowMs = 1_000;
  readonly loop = new Loop({ now: () => this.nowMs });
  /** The messages that the host received. */
  readonly received: GatewayMessage[] = [];
  engine: ModelEngine | null = null;
  readonly #folder = mkdtempSync(join(tmpdir(), "pilvi-backend-"));
  readonly #closers: (() => void)[] = [];
  readonly backend = new InstanceBackend(this.loop.pool, this.#firstEntry(), (message) =>
    this.received.push(message),
  );

  /** Sends another state, as the host does. */
  become(state: RouteState, change: Partial<Route> = {}): void {
    this.backend.update({ ...this.backend.entry, state, ...change });
  }

  start(backlog = 128): void {
    this.engine = new ModelEngine(this.backend.entry.socket, backlog, () => {});
    this.become("running");
  }

  async newClient() {
    const opened = await this.loop.client();
    this.#closers.push(
      () => opened.client.close(),
      () => opened.peer.close(),
    );
    return opened;
  }

  /** A client that asks for the engine. */
  async waiting(user = "ann") {
    const { client, peer } = await this.newClient();
    const connecting = this.backend.connect(client, { user, address: client.address });
    connecting.catch(() => {});
    return { client, peer, connecting };
  }

  /** A client that is connected to the engine. */
  async spliced() {
    const { client, peer, connecting } = await this.waiting();
    const stream = await this.loop.of(connecting);
    stream.write(Buffer.from("L"));
    await this.loop.until(() => {
      this.engine?.goOn(() => true);
      return (this.engine?.sessions ?? 0) > 0;
    });
    await this.loop.of(stream.read(1));
    return { client, peer, stream, end: this.backend.splice(client, stream) };
  }

  /** How often the host received this message. */
  count(type: GatewayMessage["type"]): number {
    return this.received.filter((message) => message.type === type).length;
  }

  /** The client and the duration of the login of each wake, as the host received them. */
  get wakers(): [user: string, loginMs: number][] {
    return this.received.flatMap((message): [string, number][] =>
      message.type === "woken" ? [[message.wake.reason.user, message.wake.spansMs.login]] : [],
    );
  }

  /** Another backend of the same instance, with limits of its own. */
  backendWith(limits: { maxHeld: number }) {
    const received: GatewayMessage[] = [];
    const send = (message: GatewayMessage) => received.push(message);
    return { received, backend: new InstanceBackend(this.loop.pool, this.#firstEntry(), send, limits) };
  }

  /** Lets time pass after everything that happens before. */
  async pass(ms: number): Promise<void> {
    await this.loop.rest();
    this.nowMs += ms;
    await this.loop.rest();
  }

  /** @throws when code in the loop threw. */
  async close(): Promise<void> {
    this.backend.close();
    for (const close of this.#closers.splice(0)) close();
    this.engine?.end();
    await this.loop.rest();
    this.loop.close();
    rmSync(this.#folder, { recursive: true });
    for (const fault of this.loop.faults) throw fault;
  }

  #firstEntry(): Route {
    return {
      id: "db-1",
      protocol: "postgres",
      address: "127.0.0.1",
      port: 1,
      socket: join(this.#folder, "engine.sock"),
      engine: { name: "postgres", version: "18.4" },
      state: "asleep",
      lastError: null,
      users: [],
      mockNonce: null,
      maxConnections: 100,
      sleepAfterSeconds: 60,
      latestStart: { startMs: 3, readyMs: 4 },
    };
  }
}
