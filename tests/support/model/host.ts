// A model of the host's part in sleep and wake, for one instance: correct, with random delays and failures.
import type { InstanceBackend } from "../../../src/gateway/instance/instance-backend.ts";
import type { GatewayMessage, Route, RouteState } from "../../../src/contracts/gateway-link.ts";
import { ModelEngine } from "./engine.ts";

/** Numbers from 0 up to but without `below`. */
export type Random = (below: number) => number;

export class ModelHost {
  readonly #random: Random;
  readonly #now: () => number;
  readonly #backend: () => InstanceBackend;
  readonly #socket: string;
  engine: ModelEngine | null = null;
  state: RouteState = "asleep";
  /** Whether starts may fail. */
  isLucky = false;
  /** Messages to and from the gateway that have not arrived. */
  readonly #toGateway: (() => void)[] = [];
  readonly #toHost: GatewayMessage[] = [];
  isLinked = true;
  /** The event that the suspend waits for. */
  #step: "drained" | "detached" | null = null;
  #isWanted = false;
  #startsAtMs = Infinity;
  /** Whether clients come first in the latest drain that was sent to the gateway. */
  isYielding = false;
  starts = 0;
  sleeps = 0;
  /** Messages `wake` since the gateway received another state. */
  wakes = 0;
  /** Starts that failed. */
  failures = 0;
  /** Called when the gateway asks for the engine, and reports it idle. */
  onWake = () => {};
  onIdle = () => {};
  /** Sessions that the engine lost in the middle of a message. */
  cuts = 0;

  constructor(random: Random, now: () => number, socket: string, backend: () => InstanceBackend) {
    this.#random = random;
    this.#now = now;
    this.#socket = socket;
    this.#backend = backend;
  }

  get entry(): Route {
    return {
      id: "db-1",
      protocol: "postgres",
      address: "127.0.0.1",
      port: 1,
      socket: this.#socket,
      engine: { name: "postgres", version: "18.4" },
      state: this.state,
      lastError: this.state === "failed" ? "there is no room" : null,
      users: [],
      mockNonce: null,
      maxConnections: 100,
      sleepAfterSeconds: 2,
      latestStart: { startMs: 1, readyMs: 2 },
    };
  }

  /** Called with each message of the gateway. */
  receive(message: GatewayMessage): void {
    if (!this.isLinked) return;
    if (message.type === "wake") {
      this.wakes += 1;
      this.onWake();
    }
    if (message.type === "idle") this.onIdle();
    this.#toHost.push(message);
  }

  /** Carries out a step that is due, if any. @returns whether there was any. */
  goOn(): boolean {
    const canSend = this.#toGateway.length > 0;
    const canReceive = this.#toHost.length > 0;
    if (canSend && (!canReceive || this.#random(2) === 0)) {
      this.#toGateway.shift()?.();
      return true;
    }
    const message = this.#toHost.shift();
    if (message !== undefined) {
      this.#take(message);
      return true;
    }
    if (this.#now() < this.#startsAtMs) return false;
    this.#start();
    return true;
  }

  get isStarting(): boolean {
    return this.#startsAtMs < Infinity;
  }

  /** Begins to suspend it. @param isYielding whether clients come first. */
  suspend(isYielding: boolean): void {
    if (!this.isLinked || this.state !== "running" || this.engine === null || this.engine.isBusy) return;
    this.#become("draining");
    this.#step = "drained";
    const withinMs = 10 + this.#random(3_000);
    this.#send(() => {
      this.isYielding = isYielding;
      this.#backend().drain(withinMs, isYielding);
    });
  }

  /** The engine ends by itself, and is started again. */
  crash(): void {
    if (this.engine === null) return;
    this.#endEngine();
    this.#step = null;
    this.#startSoon();
  }

  /** A change of the spec takes another start, whether it runs or sleeps; a pending start serves as well. */
  restart(): void {
    if (this.state === "draining" || this.isStarting) return;
    this.#endEngine();
    this.#startSoon();
  }

  /** The link breaks; a killed host has forgotten more than a host that lost its link. */
  loseLink(isKilled: boolean): void {
    this.isLinked = false;
    this.#toGateway.length = 0;
    this.#toHost.length = 0;
    this.#step = null;
    if (this.state === "draining") this.state = "running";
    if (!isKilled || this.engine !== null) return;
    this.#startsAtMs = Infinity;
    this.#isWanted = false;
    this.state = "asleep";
  }

  findLink(): void {
    if (this.isLinked) return;
    this.isLinked = true;
    this.#sendState();
    this.#send(() => {
      this.wakes = 0;
      this.#backend().remind();
    });
  }

  close(): void {
    this.engine?.end();
    this.engine = null;
  }

  #take(message: GatewayMessage): void {
    if (message.type === "wake") return this.#wake();
    if (message.type === "idle") return this.suspend(true);
    if (message.type === "busy" && this.#step !== null) return this.#stayAwake();
    if (message.type !== this.#step) return;
    if (this.#isWanted || this.engine === null || this.engine.isBusy) return this.#stayAwake();
    if (message.type === "drained") {
      this.#step = "detached";
      return this.#send(() => this.#backend().disconnectIfIdle());
    }
    this.#step = null;
    if (this.engine.sessions > 0) throw new Error("the engine was stopped under a client");
    this.#endEngine();
    this.sleeps += 1;
    this.#become("asleep");
  }

  #wake(): void {
    if (this.state === "draining") this.#isWanted = true;
    // An answer to a disconnect is on its way; it is handled first.
    if (this.state === "draining" && this.#step === "drained") return this.#stayAwake();
    if (this.engine === null && this.#startsAtMs === Infinity) this.#startSoon();
    else if (this.state === "failed") this.#startsAtMs = Math.min(this.#startsAtMs, this.#now() + 100);
  }

  #stayAwake(): void {
    this.#step = null;
    this.#isWanted = false;
    if (this.state === "draining") this.#become("running");
  }

  #startSoon(): void {
    this.#startsAtMs = this.#now() + this.#random(60);
    this.#become("starting");
  }

  #start(): void {
    this.#startsAtMs = Infinity;
    if (this.engine !== null) throw new Error("two engines in one directory");
    if (!this.isLucky && this.#random(5) === 0) {
      this.failures += 1;
      this.#startsAtMs = this.#now() + 100 + this.#random(4_000);
      return this.#become("failed");
    }
    this.engine = new ModelEngine(this.#socket, this.#random(3), () => (this.cuts += 1));
    this.starts += 1;
    this.#isWanted = false;
    this.#become("running");
  }

  #endEngine(): void {
    this.engine?.end();
    this.engine = null;
  }

  #become(state: RouteState): void {
    this.state = state;
    this.#sendState();
  }

  #sendState(): void {
    const { entry } = this;
    this.#send(() => {
      if (this.#backend().entry.state !== entry.state) this.wakes = 0;
      this.#backend().update(entry);
    });
  }

  #send(message: () => void): void {
    if (this.isLinked) this.#toGateway.push(message);
  }
}
