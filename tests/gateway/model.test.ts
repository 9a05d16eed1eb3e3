// Sleep and wake of an instance under hundreds of schedules: the gateway's own code on the runtime's sockets, with a clock
// turned by hand, against models of host, engine and clients. A failing schedule is named by its seed, which repeats
// it.
import { afterAll, afterEach, expect, mock, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InstanceBackend } from "../../src/gateway/instance/instance-backend.ts";
import { SocketPool } from "../../src/gateway/sockets/socket-pool.ts";
import { messageOf } from "../../src/lib/errors.ts";
import { openDescriptors } from "../support/gateway/loop.ts";
import { ManualTimers } from "../support/gateway/manual-timers.ts";
import { cancel, ModelClient } from "../support/model/clients.ts";
import { ModelHost, type Random } from "../support/model/host.ts";

const SCHEDULES = 300;
const MAX_CLIENTS = 8;
/** The idle time of the model's route, and the gateway's own limits. */
const [SLEEP_AFTER_MS, ASK_INTERVAL_MS, FAILED_HOLD_MS, HOLD_MS] = [2_000, 1_000, 5_000, 300_000];

const folder = mkdtempSync(join(tmpdir(), "pilvi-model-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => mock.restore());

function randomOf(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

class Schedule {
  readonly #random: Random;
  #nowMs = 1_000;
  readonly #faults: unknown[] = [];
  readonly #timers = new ManualTimers(() => this.#nowMs);
  readonly #pool = new SocketPool(this.#timers, (error) => this.#faults.push(error));
  readonly #host: ModelHost;
  readonly #backend: InstanceBackend;
  readonly #clients: ModelClient[] = [];
  #crashes = 0;
  #restarts = 0;
  #deletions = 0;
  /** Cancels that have arrived, and the cancels among them that have not ended yet. */
  #cancels = 0;
  #openCancels = 0;
  #askedAtMs = 0;
  #wokeAtMs = -Infinity;
  #wokens = 0;
  readonly #trace: string[] = [];

  constructor(seed: number) {
    this.#random = randomOf(seed);
    // Random delays come from this generator.
    spyOn(Math, "random").mockImplementation(() => this.#random(1_000) / 1_000);
    const socket = join(folder, `${seed}.sock`);
    const now = () => this.#nowMs;
    this.#host = new ModelHost(this.#random, now, socket, (): InstanceBackend => this.#backend);
    this.#host.onIdle = () => {
      assert(this.#nowMs - this.#askedAtMs >= SLEEP_AFTER_MS, "an instance in use was reported as idle");
    };
    this.#host.onWake = () => {
      const isFirst = this.#host.wakes === 1;
      assert(isFirst || this.#nowMs - this.#wokeAtMs >= ASK_INTERVAL_MS, "one wake was asked for twice");
      const isForSomebody = this.#clients.some(({ spokeAtMs, isOver }) => spokeAtMs !== null && !isOver);
      assert(isForSomebody, "it was woken for nobody");
      this.#wokeAtMs = this.#nowMs;
    };
    this.#backend = new InstanceBackend(this.#pool, this.#host.entry, (message) => {
      this.#note(message.type);
      if (message.type === "woken") this.#wokens += 1;
      assert(this.#wokens <= this.#host.starts, "one wake was reported twice");
      this.#host.receive(message);
    });
  }

  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      this.#act();
      await this.#settle();
    }
    // Nothing happens after a deletion, so it is the last step of some schedules.
    if (this.#random(6) === 0) return await this.#delete();
    await this.#calmDown();
    await this.#fallAsleep();
    await this.#leave();
  }

  /** What happened, in words for the failure's message. */
  get story(): string {
    return this.#trace.slice(-80).join("\n");
  }

  /** Situations that the schedule reached, so that schedules without any progress are noticed. */
  get counts() {
    const { starts, sleeps, failures } = this.#host;
    const served = this.#clients.filter(({ isServed }) => isServed).length;
    const acts = { crashes: this.#crashes, restarts: this.#restarts, cancels: this.#cancels };
    return { starts, sleeps, failures, served, ...acts, deletions: this.#deletions, wokens: this.#wokens };
  }

  #act(): void {
    const choice = this.#random(100);
    const client = this.#clients[this.#random(this.#clients.length)];
    this.#note(String(choice));
    if (choice < 8) this.#come();
    else if (choice < 25) client?.logIn(this.#nowMs);
    else if (choice < 45) this.#ask(client, 1 + this.#random(30));
    else if (choice < 47) client?.leave();
    else if (choice < 65) this.#host.engine?.goOn(() => this.#random(2) === 0);
    else if (choice < 85) this.#host.goOn();
    else if (choice < 87) this.#host.suspend(this.#random(2) === 0);
    else if (choice < 88) this.#crash();
    else if (choice < 89) this.#host.loseLink(this.#random(2) === 0);
    else if (choice < 91) this.#host.findLink();
    else if (choice < 92) this.#restart();
    else if (choice < 94) this.#cancel();
    else this.#nowMs += this.#random(10) === 0 ? this.#random(6_000) : this.#random(40);
  }

  #come(): void {
    if (this.#clients.length === MAX_CLIENTS) return;
    const kind = { stays: this.#random(2) === 0, comesFirst: () => this.#host.isYielding };
    this.#clients.push(new ModelClient(this.#pool, this.#backend, kind));
  }

  #ask(client: ModelClient | undefined, partBytes: number): void {
    if (client === undefined || !client.isReady || client.hasEnded) return;
    client.ask(this.#nowMs, 1 + this.#random(20), partBytes);
    this.#askedAtMs = this.#nowMs;
  }

  #crash(): void {
    if (this.#host.engine === null) return;
    this.#crashes += 1;
    this.#strike();
    this.#host.crash();
  }

  /** The host disappears or returns; clients that arrive without it are held. */
  #restart(): void {
    const isWithHost = this.#random(2) === 0;
    if (this.#host.engine === null && isWithHost) return;
    this.#restarts += 1;
    this.#strike();
    this.#host.restart();
    if (isWithHost) this.#host.loseLink(false);
  }

  /** The engine ends, and so does everything under way in it. */
  #strike(): void {
    for (const client of this.#clients) client.isStruck ||= client.isServed;
  }

  #cancel(): void {
    this.#cancels += 1;
    this.#openCancels += 1;
    const { wakes } = this.#host;
    void cancel(this.#backend)
      .catch((error: unknown) => this.#faults.push(error))
      .finally(() => (this.#openCancels -= 1));
    assert(this.#host.wakes === wakes, "a cancel woke it");
  }

  async #settle(): Promise<void> {
    await this.#turn(3);
    if (this.#faults.length > 0) throw this.#faults[0];
    for (const client of this.#clients) this.#check(client);
  }

  async #turn(times: number): Promise<void> {
    for (let turns = 0; turns < times; turns++) {
      this.#pool.attempt(() => this.#timers.run());
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #check(client: ModelClient): void {
    if (client.fault !== null) throw client.fault;
    assert(!client.wasCut, "a client was parted that had asked something");
    if (client.hasLeft) return;
    assert(client.areAnswersRight, "a client got an answer that is not its own");
    if (!client.hasEnded || client.isStruck) return;
    assert(client.farewell !== "", "a client was closed without a word");
    if (!client.isRefused) return;
    const waitedMs = this.#nowMs - (client.spokeAtMs ?? this.#nowMs);
    assert(waitedMs >= FAILED_HOLD_MS && this.#host.failures > 0, "a client was refused");
  }

  /** No step fails any more: every remaining client gets everything it asked for. */
  async #calmDown(): Promise<void> {
    this.#host.isLucky = true;
    this.#host.findLink();
    for (const client of this.#clients) client.logIn(this.#nowMs);
    await this.#goOnUntil("a client waits in vain", () => {
      for (const client of this.#clients) if (client.isInTheMiddle) this.#ask(client, 100);
      this.#host.engine?.goOn(() => true);
      return this.#clients.every((client) => client.isContent);
    });
    const left = this.#clients.filter(({ hasLeft }) => hasLeft).length;
    assert(this.#host.cuts <= left, "a query was cut");
  }

  /** No client acts any more: idle connections and cancels keep nothing awake, and wake nothing. */
  async #fallAsleep(): Promise<void> {
    await this.#goOnUntil("it does not fall asleep", () => {
      if (this.#random(8) === 0) this.#cancel();
      this.#host.engine?.goOn(() => true);
      return this.#host.state === "asleep" || this.#clients.every(({ isServed }) => !isServed);
    });
    const { state, starts } = this.#host;
    if (state !== "asleep") return;
    this.#cancel();
    this.#nowMs += ASK_INTERVAL_MS;
    await this.#settle();
    while (this.#host.goOn()) await this.#settle();
    assert(this.#host.starts === starts, "it was woken for a cancel");
  }

  /** The gateway gives the route up when the host says that the instance is gone; the engine is killed after that. */
  async #delete(): Promise<void> {
    this.#deletions += 1;
    this.#backend.close();
    for (const { socket } of this.#clients) socket.end();
    await this.#turn(3);
    for (const client of this.#clients) {
      assert(client.fault === null, "a deletion was too much for a protocol handler");
      assert(client.hasLeft || client.hasEnded, "a client was not notified of the deletion");
    }
    await this.#end();
  }

  async #goOnUntil(fault: string, holds: () => boolean): Promise<void> {
    for (let count = 0; !holds(); count++) {
      assert(count < 1_500, fault);
      this.#nowMs += 10;
      while (this.#host.goOn());
      await this.#settle();
    }
  }

  async #leave(): Promise<void> {
    for (const client of this.#clients) if (!client.hasLeft) client.leave();
    await this.#settle();
    this.#backend.close();
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#host.close();
    this.#nowMs += HOLD_MS;
    await this.#turn(2);
    for (const client of this.#clients) if (!client.hasLeft) client.leave();
    await this.#turn(1);
    assert(this.#backend.sessions === 0, "a session was left behind");
    assert(this.#openCancels === 0, "a cancel was left behind");
    assert(
      this.#clients.every(({ isOver }) => isOver),
      "a client is held by what is gone",
    );
  }

  #note(event: string): void {
    this.#trace.push(`${this.#nowMs} ${this.#host.state} ${event}`);
  }
}

function assert(holds: boolean, fault: string): void {
  if (!holds) throw new Error(fault);
}

test("no client is refused, cut off or forgotten under any schedule", async () => {
  const before = openDescriptors();
  const total = {
    starts: 0,
    sleeps: 0,
    failures: 0,
    served: 0,
    crashes: 0,
    restarts: 0,
    cancels: 0,
    deletions: 0,
    wokens: 0,
  };
  for (let seed = 1; seed <= SCHEDULES; seed++) {
    const schedule = new Schedule(seed);
    try {
      // Short schedules first: their failures are easier to understand.
      await schedule.run(20 + Math.floor((seed * 400) / SCHEDULES));
    } catch (error) {
      throw new Error(`schedule ${seed}: ${messageOf(error)}\n${schedule.story}`, { cause: error });
    }
    const { counts } = schedule;
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += counts[key];
  }
  expect(openDescriptors()).toBe(before);
  for (const count of Object.values(total)) expect(count).toBeGreaterThan(SCHEDULES / 10);
});
