// One instance of the host under hundreds of schedules: the host's own code on a fake clock, against models of engine,
// gateway and disk. A failing schedule names its seed, and the seed repeats it.
import { afterAll, afterEach, beforeEach, expect, jest, mock, spyOn, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ModelClock, randomOf, type Random } from "../../../tests/support/model/clock.ts";
import { ModelGateway } from "../../../tests/support/model/gateway.ts";
import { watchDisk } from "../../../tests/support/model/disk.ts";
import { MODEL_ID, modelInstance, specWith, usersOf } from "../../../tests/support/model/instance.ts";
import { Life, ModelMachine } from "../../../tests/support/model/machine.ts";
import type { Observation } from "../../contracts/observation.ts";
import { messageOf, PublicError } from "../../lib/errors.ts";
import type { Instance } from "./instance.ts";
import { instanceFolder } from "../os/layout.ts";
import { readManifest, saysAsleep } from "../manifest/manifest.ts";

const SCHEDULES = 300;
/** Longer than any pause between two starts, and than any wait in a suspension. */
const LONGEST_WAIT_MS = 90_000;

/** A RAM disk if there is one: the schedules would spend most of their time waiting for a disk. */
const dataDir = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "pilvi-model-"));
const { path, manifest } = instanceFolder(dataDir, MODEL_ID);
beforeEach(() => void jest.useFakeTimers());
afterEach(() => {
  jest.useRealTimers();
  mock.restore();
});
afterAll(() => rmSync(dataDir, { recursive: true }));

class Schedule {
  readonly #random: Random;
  readonly #clock = new ModelClock();
  readonly #machine: ModelMachine;
  readonly #gateway: ModelGateway;
  #life = new Life();
  #instance: Instance;
  #spec = specWith({});
  #pending = 0;
  #replacements = 0;
  #isRemoved = false;
  /** The starts and the excuses up to the moment when the instance last slept or ran. */
  #startsBefore = 0;
  #excusesBefore = 0;
  readonly #trace: string[] = [];

  constructor(seed: number) {
    this.#random = randomOf(seed);
    spyOn(Math, "random").mockImplementation(() => this.#random(1_000) / 1_000);
    this.#machine = new ModelMachine(this.#random);
    this.#gateway = new ModelGateway(this.#random);
    this.#gateway.isEngineUp = () => this.#machine.live !== null;
    this.#watchMachine();
    watchDisk(this.#random, this.#clock, () => this.#life);
    this.#instance = this.#newHost();
  }

  async run(steps: number): Promise<void> {
    this.#ensure();
    for (let step = 0; step < steps; step++) {
      await this.#act();
      await this.#check();
    }
    if (this.#random(3) > 0) await this.#calmDown();
    await this.#remove();
  }

  get story(): string {
    return this.#trace.slice(-120).join("\n");
  }

  get counts() {
    const { starts, failures, crashes, cleanEnds } = this.#machine;
    return { starts, failures, crashes, cleanEnds, replacements: this.#replacements };
  }

  async #act(): Promise<void> {
    const choice = this.#random(100);
    if (choice < 12) this.#do("come", () => this.#gateway.come());
    else if (choice < 14) this.#do("herd", () => this.#herd());
    else if (choice < 24) this.#do("idle", () => this.#gateway.reportIdle());
    else if (choice < 30) this.#do("suspend", () => this.#suspend());
    else if (choice < 34) this.#do("ensure", () => this.#ensure());
    else if (choice < 38) this.#do("change", () => this.#change());
    else if (choice < 41) this.#do("crash", () => this.#machine.crash());
    else if (choice < 43) this.#do("gateway dies", () => this.#gateway.die());
    else if (choice < 47) this.#do("gateway comes", () => this.#gateway.revive());
    else if (choice < 49) this.#do("gateway slow", () => (this.#gateway.isSlow = !this.#gateway.isSlow));
    else if (choice < 50) this.#do("gateway apart", () => this.#gateway.loseLink());
    else if (choice < 52) this.#do("busy", () => this.#work());
    else if (choice < 54) await this.#replaceHost();
    else await this.#clock.pass(this.#random(8) === 0 ? this.#random(6_000) : this.#random(30));
  }

  #do(name: string, act: () => void): void {
    this.#note(name);
    act();
  }

  #herd(): void {
    for (let count = 0; count < 5; count++) this.#gateway.ask();
  }

  #work(): void {
    this.#machine.blockingActivity = this.#random(2) === 0 ? "It writes." : null;
  }

  #ensure(): void {
    this.#settles(this.#instance.ensure(this.#spec));
  }

  #change(): void {
    const choice = this.#random(4);
    if (choice === 0) this.#spec = specWith({ ...this.#spec, memoryBytes: 1 + this.#random(3) });
    if (choice === 1) this.#spec = specWith({ ...this.#spec, users: usersOf(1 + this.#random(3)) });
    if (choice === 2) this.#spec = specWith({ ...this.#spec, maxConnections: 10 + this.#random(3) });
    if (choice === 3)
      this.#spec = specWith({ ...this.#spec, sleepAfterSeconds: [60, null][this.#random(2)] ?? null });
    this.#ensure();
  }

  #suspend(): void {
    this.#settles(this.#instance.suspend());
  }

  /** Replaces the host. A host that leaves lets go of everything and ends a moment later; a killed host just ends. */
  async #replaceHost(): Promise<void> {
    this.#note("another host");
    this.#replacements += 1;
    if (this.#random(2) === 0) {
      this.#instance.release();
      await this.#clock.pass(this.#random(50));
    }
    this.#life.isOver = true;
    this.#pending = 0;
    await this.#clock.pass(this.#random(3) * this.#random(1_500));
    this.#instance = this.#newHost();
    if (this.#instance.load(new Map())) this.#settles(this.#instance.resume());
    // The control plane repeats its request.
    else this.#ensure();
  }

  #newHost(): Instance {
    const life = (this.#life = new Life());
    return modelInstance(dataDir, {
      life,
      machine: this.#machine,
      gateway: this.#gateway,
      onWake: () => this.#note("wake"),
      onChange: (observation) => {
        if (!life.isOver) this.#changed(observation);
      },
    });
  }

  #changed({ state, lastError }: Observation): void {
    this.#note(lastError === null ? state : `${state}: ${lastError}`);
    if (state !== "asleep" && state !== "running") return;
    const { starts } = this.#machine;
    const excuses = this.#excuses - this.#excusesBefore;
    this.#assert(starts - this.#startsBefore <= 1 + excuses, "one wake took more than one start");
    [this.#startsBefore, this.#excusesBefore] = [starts, this.#excuses];
  }

  /** The extra starts that failures and new hosts excuse: a stop that the former host began may end under the next. */
  get #excuses(): number {
    return this.#machine.failures + this.#replacements;
  }

  #watchMachine(): void {
    const machine = this.#machine;
    machine.onSpawned = () => this.#gateway.engineStarted();
    machine.onCleanEnd = () => {
      this.#note("is ended");
      this.#assert(!this.#gateway.hasSessions, "clients were cut off by a sleep");
    };
    machine.onEnded = () => {
      this.#note("has ended");
      this.#gateway.engineEnded();
    };
  }

  #settles(promise: Promise<unknown>): void {
    const life = this.#life;
    this.#pending += 1;
    const settled = (error?: unknown) => {
      if (life.isOver) return;
      this.#pending -= 1;
      const isPublic = error === undefined || error instanceof PublicError;
      this.#assert(isPublic, `a client received: ${messageOf(error)}`);
    };
    promise.then(() => settled(), settled);
  }

  async #check(): Promise<void> {
    await this.#clock.settle();
    const [fault] = this.#machine.faults;
    if (fault !== undefined) throw new Error(fault);
    const { state } = this.#instance.observe();
    const runs = this.#machine.live !== null;
    // A removal kills the engine first, and the observation follows.
    if (state === "running" && !runs && !this.#isRemoved) throw new Error("it is said to run and does not");
    if (state === "asleep" && runs) throw new Error("it is said to sleep and runs");
  }

  /** Ends all failures: every waiting client gets the engine, and the instance can sleep and wake again and again. */
  async #calmDown(): Promise<void> {
    this.#note("calm");
    this.#machine.isLucky = true;
    this.#machine.blockingActivity = null;
    this.#gateway.isSlow = false;
    this.#gateway.revive();
    await this.#until("somebody waits in vain", () => this.#isContent);
    this.#spec = specWith({ ...this.#spec, sleepAfterSeconds: 60 });
    this.#ensure();
    await this.#until("it does not wake", () => {
      if (this.#isAsleep) this.#gateway.come();
      return this.#isContent && this.#runs;
    });
    await this.#until("it does not fall asleep", () => {
      this.#gateway.reportIdle();
      return this.#isAsleep;
    });
    const { starts } = this.#machine;
    await this.#clock.pass(LONGEST_WAIT_MS);
    this.#assert(this.#machine.starts === starts && this.#isAsleep, "it was woken for nobody");
    this.#assert(saysAsleep(readManifest(manifest)), "its sleep was not written down");
    this.#herd();
    await this.#until("a herd waits in vain", () => this.#runs);
    this.#assert(this.#machine.starts === starts + 1, "a herd took more than one start");
    this.#suspend();
    await this.#until("it does not sleep when asked to", () => this.#isAsleep && this.#isContent);
  }

  get #runs(): boolean {
    return this.#instance.observe().state === "running" && this.#gateway.state === "running";
  }

  get #isAsleep(): boolean {
    return this.#instance.observe().state === "asleep" && this.#gateway.state === "asleep";
  }

  get #isContent(): boolean {
    return this.#pending === 0 && !this.#gateway.isWanted && (this.#runs || this.#isAsleep);
  }

  async #remove(): Promise<void> {
    this.#note("remove");
    this.#isRemoved = true;
    this.#settles(this.#instance.remove());
    if (this.#random(3) === 0) {
      await this.#clock.pass(this.#random(40));
      await this.#replaceHost();
      this.#settles(this.#instance.remove());
    }
    await this.#until("the removal does not end", () => this.#pending === 0);
    this.#assert(this.#machine.live === null, "an engine outlived its removal");
    this.#assert(!existsSync(path), "something was left of it");
    this.#assert(this.#instance.observe().state === "absent", "it is not absent");
    await this.#clock.pass(LONGEST_WAIT_MS);
    await this.#check();
    this.#assert(this.#machine.live === null && !existsSync(path), "it came back");
    await this.#check();
    this.#life.isOver = true;
  }

  async #until(fault: string, holds: () => boolean): Promise<void> {
    const giveUpAtMs = performance.now() + LONGEST_WAIT_MS;
    while (!holds()) {
      if (performance.now() > giveUpAtMs) throw new Error(fault);
      await this.#clock.pass(50);
      await this.#check();
    }
  }

  #assert(holds: boolean, fault: string): void {
    if (!holds) this.#machine.faults.push(fault);
  }

  #note(event: string): void {
    this.#trace.push(`${Math.round(performance.now())} ${event}`);
  }
}

test("an instance runs one engine, cuts off no client by its sleep and wakes for every client, in any order of events", async () => {
  const total = { starts: 0, failures: 0, crashes: 0, cleanEnds: 0, replacements: 0 };
  for (let seed = 1; seed <= SCHEDULES; seed++) {
    const schedule = new Schedule(seed);
    try {
      // Short schedules come first, because their failures are easier to understand.
      await schedule.run(10 + Math.floor((seed * 150) / SCHEDULES));
    } catch (error) {
      throw new Error(`schedule ${seed}: ${messageOf(error)}\n${schedule.story}`, { cause: error });
    }
    mock.restore();
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += schedule.counts[key];
  }
  for (const count of Object.values(total)) expect(count).toBeGreaterThan(SCHEDULES / 10);
});
