// Applications with what is attached to them, under requests, changes, kills and freezes: every answer is right, and
// after each phase all is as it was ordered.
import { appendFileSync } from "node:fs";
import type { Driver } from "../../src/drivers/driver.ts";
import { localDriver } from "../../src/drivers/local/index.ts";
import { hostSocket } from "../../src/host/os/layout.ts";
import { messageOf } from "../../src/lib/errors.ts";
import { createLog } from "../../src/lib/log.ts";
import type { Database } from "../../src/store/database.ts";
import { createCluster, createDatabase } from "../support/pilvi/databases.ts";
import type { TestPilvi } from "../support/pilvi/pilvi.ts";
import { ApplicationsHarm } from "./applications-harm.ts";
import { ApplicationsInspection } from "./applications-inspection.ts";
import { ChaoticApplication, type Said } from "./chaotic-application.ts";
import type { Resource } from "./ledger-sessions.ts";
import { randomOf } from "./random.ts";
import { suspend } from "./sleepers.ts";

/** A request is held for 60 s at most, and its answer may take 60 s. */
const LONGEST_ANSWER_MS = 125_000;
const CALM_ANSWER_MS = 12_000;
/** How soon after the last strike all has to be as ordered. */
const REST_MS = 30_000;

export interface ApplicationsChaosOptions {
  seed: number;
  seconds: number;
  /** A file that gets all that happens, to find a cause. */
  notes?: string;
}

export class ApplicationsChaos {
  readonly #pilvi: TestPilvi;
  readonly #store: Database;
  readonly #options: ApplicationsChaosOptions;
  readonly #random: () => number;
  readonly #faults: string[] = [];
  readonly #driver: Driver;
  #applications: ChaoticApplication[] = [];
  #attached: Resource[] = [];
  #cacheId = "";
  readonly #passing: string[] = [];
  readonly #known = new Set<string>();
  #isOver = false;
  #isPhaseOver = false;
  readonly #harm: ApplicationsHarm;
  #counts = { requests: 0, refused: 0, actions: 0, phases: 0 };

  constructor(pilvi: TestPilvi, store: Database, options: ApplicationsChaosOptions) {
    this.#pilvi = pilvi;
    this.#store = store;
    this.#options = options;
    this.#random = randomOf(options.seed);
    this.#harm = new ApplicationsHarm(pilvi, {
      random: this.#random,
      note: (text) => this.#note(text),
      engines: () => this.#attached.map(({ id }) => id),
    });
    this.#driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("test", "error") });
  }

  /** @returns what was wrong. */
  async run(): Promise<string[]> {
    await this.#make();
    const clients = this.#applications.map((each) => this.#client(each));
    const endsAtMs = performance.now() + this.#options.seconds * 1_000;
    try {
      while (performance.now() < endsAtMs && this.#faults.length === 0) await this.#phase();
    } finally {
      this.#isOver = true;
      await Promise.all(clients);
    }
    const counts = { ...this.#counts, strikes: this.#harm.strikes };
    const text = `seed ${this.#options.seed}: ${JSON.stringify(counts)}`;
    console.log(text);
    this.#note(text);
    return this.#faults;
  }

  async #make(): Promise<void> {
    const [plain, shop, cached, worker, interval] = await Promise.all([
      ChaoticApplication.create(this.#pilvi, "plain"),
      ChaoticApplication.create(this.#pilvi, "shop"),
      ChaoticApplication.create(this.#pilvi, "cached"),
      ChaoticApplication.create(this.#pilvi, "worker", true),
      ChaoticApplication.create(this.#pilvi, "interval"),
    ]);
    this.#applications = [plain, shop, cached, worker, interval];
    const [cluster, cache] = await Promise.all([
      createCluster(this.#pilvi, { config: { suspend_seconds: 3 } }),
      this.#pilvi.createCache({ uses_hibernation: true, hibernation_timeout: 1, name: "cache" }),
    ]);
    this.#attached = [cluster, cache];
    this.#cacheId = cache.id;
    await shop.attach({ database_schema_id: await createDatabase(this.#pilvi, cluster.id, "shop") });
    await cached.attachCache(cache.id);
    await this.#store`
      update environments
      set settings = settings || jsonb_build_object('hibernation_wake_up_interval', 0.1::float8)
      where id = ${interval.id}`;
    for (const { id } of this.#applications)
      await this.#store`update environments set settings = settings || '{"sleep_timeout": 0.05}' where id = ${id}`;
    await Promise.all(this.#applications.map((each) => each.attach({ color: "green" })));
    await this.#settle();
  }

  async #phase(): Promise<void> {
    this.#isPhaseOver = false;
    this.#counts.phases += 1;
    const customers = this.#applications.map((each) =>
      this.#customer(each).catch((error: unknown) =>
        this.#fault(`a customer of ${each.name}: ${messageOf(error)}`),
      ),
    );
    const others = [this.#suspender(), this.#passer(), this.#cacheOwner()];
    const faults = 1 + Math.floor(this.#random() * 5);
    for (let count = 0; count < faults; count += 1) await this.#harm.strike();
    this.#isPhaseOver = true;
    await Promise.all([...others, ...customers]);
    await this.#settle();
  }

  /** Gives some orders, one after the other. */
  async #customer(each: ChaoticApplication): Promise<void> {
    while (!this.#isPhaseOver) {
      await Bun.sleep(this.#random() * 4_000);
      if (this.#isPhaseOver) return;
      const dice = this.#random();
      this.#counts.actions += 1;
      if (dice < 0.25) await this.#noted(`deploy ${each.name}`, () => each.deploy());
      else if (dice < 0.4) await this.#noted(`roll back ${each.name}`, () => each.rollBack(this.#random()));
      else if (dice < 0.65) {
        const greeting = `hello ${Math.floor(this.#random() * 1_000_000)}`;
        await this.#noted(`greet ${each.name} ${greeting}`, () => each.greet(greeting));
      } else if (dice < 0.8) {
        const replicas = 1 + Math.floor(this.#random() * 2);
        await this.#noted(`scale ${each.name} to ${replicas}`, () => each.scale(replicas));
      } else if (each.name === "cached" || each.name === "plain") {
        const cache = this.#random() < 0.5 ? this.#cacheId : null;
        await this.#noted(`attach ${cache} to ${each.name}`, () => each.attachCache(cache));
      }
    }
  }

  async #noted(what: string, task: () => Promise<void>): Promise<void> {
    this.#note(`begin ${what}`);
    await task();
    this.#note(`end ${what}`);
  }

  /** Puts things to sleep now and then. */
  async #suspender(): Promise<void> {
    while (!this.#isPhaseOver) {
      await Bun.sleep(this.#random() * 1_500);
      const resource = this.#pick(this.#attached);
      if (this.#random() < 0.5 && resource !== undefined)
        await suspend(this.#pilvi, resource).catch(() => null);
      else {
        const routes = await this.#driver.routes().catch(() => []);
        const ids = this.#pick(routes)?.instances ?? [];
        await Promise.all(ids.map((id) => this.#driver.suspend(id).catch(() => null)));
      }
    }
  }

  /** Makes, uses and deletes an application that is there for a while. */
  async #passer(): Promise<void> {
    while (!this.#isPhaseOver) {
      await Bun.sleep(this.#random() * 3_000);
      const name = `passing ${this.#counts.actions}`;
      await this.#noted(name, async () => {
        const made = await ChaoticApplication.order(this.#pilvi, name);
        const isDeployed = this.#random() < 0.7;
        if (isDeployed) await made.deploy();
        if (isDeployed && made.failures.length === 0) await this.#ask(made, "/");
        await made.delete();
      }).catch((error: unknown) => this.#fault(`${name}: ${messageOf(error)}`));
    }
  }

  /** Replaces the cache of an application: the former is deleted while it is attached. */
  async #cacheOwner(): Promise<void> {
    const owner = this.#applications.find(({ name }) => name === "worker");
    if (owner === undefined || this.#random() < 0.4) return;
    await Bun.sleep(this.#random() * 2_000);
    await this.#noted("replace the cache of worker", async () => {
      const former = this.#passing.pop();
      const made = await owner.makeCache();
      this.#passing.push(made);
      await owner.attachCache(made);
      if (former !== undefined) await owner.deleteCache(former);
      if (this.#random() < 0.5) {
        await owner.deleteCache(made, true);
        this.#passing.pop();
      }
    }).catch((error: unknown) => this.#fault(`the cache of worker: ${messageOf(error)}`));
  }

  async #client(each: ChaoticApplication): Promise<void> {
    while (!this.#isOver) {
      await this.#ask(each, this.#random() < 0.4 ? "/deep" : "/");
      const pauseMs = this.#random() < 0.15 ? 6_000 * this.#random() : 300 * this.#random();
      await Bun.sleep(pauseMs);
    }
  }

  async #ask(each: ChaoticApplication, path: string): Promise<void> {
    const beganMs = performance.now();
    this.#counts.requests += 1;
    const answer = await this.#answer(each, path);
    const tookMs = performance.now() - beganMs;
    const isCalm = beganMs > this.#harm.noisyUntilMs;
    const took = `${path} of ${each.name} after ${Math.round(tookMs)} ms`;
    if (tookMs > (isCalm ? CALM_ANSWER_MS : LONGEST_ANSWER_MS)) this.#fault(`slow: ${took}`);
    if (typeof answer === "string") {
      if (isCalm) this.#fault(`no answer: ${took}: ${answer}`);
      return;
    }
    if (answer.said !== null) {
      const fault = each.faultOf(answer.said);
      if (fault !== null) this.#fault(fault);
    }
    if (answer.status === 200) return;
    this.#counts.refused += 1;
    const isExcused = [502, 503, 504].includes(answer.status) || (path === "/deep" && answer.status === 500);
    if (isCalm || !isExcused) this.#fault(`${answer.status}: ${took}: ${answer.text.slice(0, 300)}`);
  }

  /** The answer of an application, or the error of a request without an answer. */
  async #answer(
    each: ChaoticApplication,
    path: string,
  ): Promise<{ status: number; said: Said | null; text: string } | string> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.#pilvi.env.PILVI_EDGE_HTTP}${path}`, {
        headers: { host: each.host },
        keepalive: this.#random() < 0.5,
        signal: AbortSignal.timeout(LONGEST_ANSWER_MS + 5_000),
      });
      const text = await response.text();
      const isOwn = response.headers.get("content-type")?.includes("json") === true;
      return { status: response.status, said: isOwn ? (JSON.parse(text) as Said) : null, text };
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Waits until all is as ordered, and inspects everything. */
  async #settle(): Promise<void> {
    try {
      await this.#pilvi.untilReady(REST_MS);
    } catch (error) {
      const answer = await fetch(`${this.#pilvi.url}/readyz`).then((response) => response.text(), messageOf);
      this.#fault(`${messageOf(error)}: ${answer}`);
    }
    const inspection = new ApplicationsInspection(
      this.#pilvi,
      this.#store,
      this.#driver,
      {
        applications: this.#applications,
        attached: this.#attached,
        ask: async (each) => {
          const answer = await this.#answer(each, "/deep");
          return typeof answer === "string" ? null : answer.said;
        },
      },
      this.#known,
    );
    const beganMs = performance.now();
    for (const fault of await inspection.run(REST_MS)) this.#fault(fault);
    for (const each of this.#applications) {
      each.rest();
      for (const failure of each.failures.splice(0)) this.#note(`failed deployment: ${failure}`);
    }
    this.#note(`settled in ${Math.round(performance.now() - beganMs)} ms; ${this.#harm.sizes()}`);
  }

  #fault(text: string): void {
    this.#note(`FAULT ${text}`);
    this.#faults.push(text);
  }

  #note(text: string): void {
    const { notes } = this.#options;
    if (notes !== undefined) appendFileSync(notes, `${new Date().toISOString()} ${text}\n`);
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }
}
