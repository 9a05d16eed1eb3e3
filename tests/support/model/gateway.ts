// A gateway as the host sees it, for one instance: a model that answers late or not at all, is killed, and comes again.
import type { GatewayMessage, HostMessage, Route } from "../../../src/contracts/gateway-link.ts";
import type { Random } from "./clock.ts";
import type { ModelConnection, ModelLink } from "./link.ts";

/** A gateway that lost its host looks for it again within a second. */
const SEARCH_MS = 900;
const REASON = { user: "ann", address: "127.0.0.1:1" };

export class ModelGateway {
  readonly #random: Random;
  #isAlive = true;
  /** Whether all its answers are slow. */
  isSlow = false;
  #entry: Route | null = null;
  /** Whether there may be clients at the engine, whose connections its end cuts. */
  hasSessions = false;
  /** Whether a client waits for the engine. */
  isWanted = false;
  #worksUntilMs = 0;
  #drain: { giveUpAtMs: number; isYielding: boolean; timer: ReturnType<typeof setTimeout> } | null = null;
  #link: ModelLink | null = null;
  #connection: ModelConnection | null = null;
  #question: number | undefined;
  isEngineUp = () => false;

  constructor(random: Random) {
    this.#random = random;
  }

  get state(): Route["state"] | null {
    return this.#entry?.state ?? null;
  }

  /** A client arrives, or goes on after a pause. */
  come(): void {
    if (!this.#isAlive) return;
    if (this.state === "running" && this.#drain === null) return this.#work();
    this.isWanted = true;
    if (this.#drain?.isYielding === true && this.hasSessions) this.#goOnBusy();
    this.ask();
  }

  ask(): void {
    if (this.#entry !== null) this.#send({ type: "wake", id: this.#entry.id, reason: REASON });
  }

  reportIdle(): void {
    const isIdle = this.state === "running" && this.#worksUntilMs <= performance.now();
    if (isIdle && this.#entry !== null) this.#send({ type: "idle", id: this.#entry.id });
  }

  /** It is killed, and all its clients are disconnected. */
  die(): void {
    this.#isAlive = false;
    this.hasSessions = false;
    this.isWanted = false;
    this.#entry = null;
    this.#endDrain();
    this.#connection?.cut();
  }

  revive(): void {
    if (this.#isAlive) return;
    this.#isAlive = true;
    this.#find(0);
  }

  /** Another host has replaced the one before. */
  meet(link: ModelLink): void {
    this.#connection?.cut();
    this.#link = link;
    this.#find(this.#random(SEARCH_MS));
  }

  /** The connection breaks, and nothing else. */
  loseLink(): void {
    this.#connection?.cut();
  }

  /** Messages under way between the two are lost. */
  wasCut(): void {
    this.#connection = null;
    this.#find(this.#random(SEARCH_MS));
  }

  /** The engine has ended, and its clients are disconnected. */
  engineEnded(): void {
    this.hasSessions = false;
    this.#worksUntilMs = 0;
  }

  /** An engine was started. A client that takes it for the former engine may connect at once. */
  engineStarted(): void {
    this.hasSessions = this.state === "running" && this.#drain === null;
  }

  /** A message of the host arrives. */
  receive(message: HostMessage): void {
    switch (message.type) {
      case "entries":
        if (message.ids.length === 0) this.#close();
        break;
      case "synced":
        if (this.isWanted && this.state !== "running") this.ask();
        break;
      case "entry":
        return this.#update(message.entry);
      case "gone":
        this.#close();
        return this.#send({ type: "released", id: message.id });
      case "drain":
        this.#question = message.question;
        return this.#beginDrain(message.withinMs, message.isYielding === true);
      case "detach":
        this.#question = message.question;
        return this.#detach();
    }
  }

  get delayMs(): number {
    return this.isSlow ? this.#random(9_000) : this.#random(4);
  }

  #find(delayMs: number): void {
    setTimeout(() => {
      if (this.#isAlive && this.#connection === null) this.#connection = this.#link?.connect(this) ?? null;
    }, delayMs);
  }

  #update(entry: Route): void {
    const former = this.state;
    this.#entry = entry;
    if (entry.state !== "draining") this.#endDrain();
    if (entry.state === "running") this.#begin();
    else if (this.isWanted && entry.state !== former && entry.state !== "starting") this.ask();
  }

  #begin(): void {
    this.hasSessions = this.isEngineUp();
    if (this.isWanted) this.#work();
    this.isWanted = false;
  }

  #work(): void {
    const isLong = this.#random(8) === 0;
    this.#worksUntilMs = performance.now() + this.#random(isLong ? 15_000 : 60);
  }

  #beginDrain(withinMs: number, isYielding: boolean): void {
    this.#endDrain();
    const giveUpAtMs = performance.now() + withinMs;
    this.#drain = { giveUpAtMs, isYielding, timer: setTimeout(() => this.#look(), 0) };
  }

  #look(): void {
    if (this.#drain === null) return;
    const nowMs = performance.now();
    const remainingMs = this.#worksUntilMs - nowMs;
    if (remainingMs <= 0) return this.#answer("drained");
    if (nowMs >= this.#drain.giveUpAtMs) return this.#goOnBusy();
    const delayMs = 1 + Math.min(remainingMs, this.#drain.giveUpAtMs - nowMs);
    this.#drain.timer = setTimeout(() => this.#look(), delayMs);
  }

  #detach(): void {
    if (this.#drain === null || this.#worksUntilMs > performance.now()) return this.#goOnBusy();
    this.hasSessions = false;
    this.#answer("detached");
  }

  #goOnBusy(): void {
    this.#endDrain();
    this.#answer("busy");
  }

  #endDrain(): void {
    clearTimeout(this.#drain?.timer);
    this.#drain = null;
  }

  #close(): void {
    this.#endDrain();
    this.#entry = null;
    this.isWanted = false;
    this.hasSessions = false;
  }

  #answer(type: "drained" | "busy" | "detached"): void {
    const question = this.#question;
    if (this.#entry !== null && question !== undefined) this.#send({ type, id: this.#entry.id, question });
  }

  #send(message: GatewayMessage): void {
    this.#connection?.send(message);
  }
}
