// Customers who create, use and delete caches while processes of Pilvi are killed at random; every confirmed answer
// must hold.
import { expect } from "bun:test";
import { randomUUID } from "node:crypto";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import type { Database } from "../../src/store/database.ts";
import { cacheBody, type CacheDocument, type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import { Connection } from "./connection.ts";
import { expectExactly } from "./inspection.ts";
import { randomOf } from "./random.ts";

/** The possible victims: processes of Pilvi, the store's Postgres, the engine of some cache. */
export type Target = "control" | "host" | "both" | "up" | "store" | "engine";

export interface ChaosOptions {
  seed: number;
  targets: readonly Target[];
  /** The number of kills. */
  kills: number;
}

const CUSTOMERS = 3;
const MOST_CACHES = 20;
const LONGEST_PAUSE_MS = 300;
const PATIENCE_MS = 90_000;

/** While the disk is slow, an engine confirms commands for so long before it hands them to the kernel. */
const UNSAFE_MS = 2_000;

/** A value that was confirmed. */
interface Written {
  value: string | null;
  sentAtMs: number;
  confirmedAtMs: number;
}

/** A cache whose create was answered. */
interface KnownCache {
  cache: CacheResource;
  /** The oldest first. */
  written: Written[];
  /** When its engine was killed. */
  killedAtMs: number[];
}

export class Chaos {
  readonly #pilvi: TestPilvi;
  readonly #store: Database;
  readonly #options: ChaosOptions;
  readonly #random: () => number;
  readonly #caches = new Map<string, KnownCache>();
  readonly #busy = new Set<string>();
  readonly #killed: string[] = [];
  #isOver = false;

  constructor(pilvi: TestPilvi, store: Database, options: ChaosOptions) {
    this.#pilvi = pilvi;
    this.#store = store;
    this.#options = options;
    this.#random = randomOf(options.seed);
  }

  /** Runs until all kills are done, then checks that there is exactly what the customers were promised. */
  async run(): Promise<void> {
    console.log(`chaos with seed ${this.#options.seed}`);
    const customers = Array.from({ length: CUSTOMERS }, () => this.#customer());
    try {
      for (let kill = 0; kill < this.#options.kills; kill += 1) await this.#kill();
    } finally {
      this.#isOver = true;
    }
    await Promise.all(customers);
    await this.#check();
    console.log(`${this.#killed.length} kills, ${this.#caches.size} caches left: ${this.#killed.join(" ")}`);
  }

  async #kill(): Promise<void> {
    await Bun.sleep(this.#random() * LONGEST_PAUSE_MS);
    const target = this.#pick(this.#options.targets) ?? "host";
    this.#killed.push(target);
    if (target === "up") {
      await this.#pilvi.crash();
      await this.#pilvi.start();
    } else if (target === "engine" || target === "store") {
      const id = target === "store" ? "store" : this.#pick([...this.#caches.keys()]);
      for (const pid of id === undefined ? [] : this.#pilvi.enginePids(id)) killIfThere(pid);
      if (id !== undefined) this.#caches.get(id)?.killedAtMs.push(performance.now());
    } else {
      this.#pilvi.kill(...(target === "both" ? (["control", "host"] as const) : [target]));
    }
    // Half of the time the next kill comes before Pilvi has recovered from this kill.
    if (this.#random() < 0.5) await this.#pilvi.untilReady();
  }

  async #customer(): Promise<void> {
    while (!this.#isOver) {
      const dice = this.#random();
      const idle = [...this.#caches.keys()].filter((id) => !this.#busy.has(id));
      if (this.#caches.size < MOST_CACHES && dice < 0.5) await this.#create();
      else if (dice < 0.8) await this.#with(this.#pick(idle), (id) => this.#write(id));
      else await this.#with(this.#pick(idle), (id) => this.#delete(id));
      await Bun.sleep(10);
    }
  }

  async #with(id: string | undefined, task: (id: string) => Promise<void>): Promise<void> {
    if (id === undefined) return;
    this.#busy.add(id);
    await task(id).finally(() => this.#busy.delete(id));
  }

  async #create(): Promise<void> {
    const body = cacheBody({ eviction_policy: "noeviction" });
    const headers = { "idempotency-key": randomUUID() };
    const created = await patiently("a create is answered", async () => {
      const answer = await this.#pilvi.api<CacheDocument>("POST", "/caches", body, headers);
      return answer.status === 201 ? answer.body.data : null;
    });
    const nothing = { value: null, sentAtMs: -Infinity, confirmedAtMs: -Infinity };
    this.#caches.set(created.id, { cache: created, written: [nothing], killedAtMs: [] });
  }

  async #write(id: string): Promise<void> {
    const known = this.#caches.get(id);
    if (known === undefined) return;
    const value = randomUUID();
    let sentAtMs = 0;
    await patiently(`${id} takes a value`, async () => {
      sentAtMs = performance.now();
      const connection = await Connection.open(known.cache);
      await connection.set("value", value).finally(() => connection.close());
      return true;
    });
    known.written.push({ value, sentAtMs, confirmedAtMs: performance.now() });
  }

  async #delete(id: string): Promise<void> {
    await patiently(`${id} is deleted`, async () => {
      const { status } = await this.#pilvi.api("DELETE", `/caches/${id}`);
      return status === 204 || status === 404 ? true : null;
    });
    this.#caches.delete(id);
  }

  async #check(): Promise<void> {
    await this.#pilvi.untilReady();
    await until("deleted caches are gone", () => this.#hasOnlyKnown(), PATIENCE_MS);
    await expectExactly(this.#pilvi, this.#store, [...this.#caches.keys()]);
    for (const known of this.#caches.values()) {
      const connection = await Connection.open(known.cache);
      expect(promisedValues(known), known.cache.id).toContain(await connection.get("value"));
      connection.close();
    }
  }

  async #hasOnlyKnown(): Promise<boolean> {
    const rows = await this.#store<{ id: string; status: string }[]>`select id, status from caches`.catch(
      () => null,
    );
    return (
      rows !== null && rows.length === this.#caches.size && rows.every((row) => row.status === "available")
    );
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }
}

/** The values that a cache may have: the last, and those before it as far as a kill of the engine may have cost the next. */
function promisedValues({ written, killedAtMs }: KnownCache): (string | null)[] {
  const mayBeLost = ({ sentAtMs, confirmedAtMs }: Written) =>
    killedAtMs.some((atMs) => atMs >= sentAtMs && atMs < confirmedAtMs + UNSAFE_MS);
  const lastSafe = written.findLastIndex((each) => !mayBeLost(each));
  return written.slice(lastSafe).map(({ value }) => value);
}

/** Retries, as clients do, until there is an answer. */
async function patiently<Result>(what: string, task: () => Promise<Result | null>): Promise<Result> {
  let result: Result | null = null;
  const isAnswered = async () => {
    result = await task().catch(() => null);
    if (result === null) await Bun.sleep(20);
    return result !== null;
  };
  await until(what, isAnswered, PATIENCE_MS);
  if (result === null) throw new Error("unreachable");
  return result;
}
