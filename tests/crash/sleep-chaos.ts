// Customers who write while their instances are suspended, fall asleep and wake, and while processes are killed at
// random.
import { expect } from "bun:test";
import { processesOf } from "../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import { EngineWatch } from "./engine-watch.ts";
import { Ledger } from "./ledger.ts";
import { openSession } from "./ledger-sessions.ts";
import { cutPower } from "./power-cut.ts";
import { randomOf } from "./random.ts";
import { isRecordedAsleep, putToSleep, sleepyKinds, suspend } from "./sleepers.ts";

/** The possible victims: processes of Pilvi, an engine, or everything. */
export type Target = "control" | "host" | "gateway" | "both" | "engine" | "everything";

export interface SleepChaosOptions {
  seed: number;
  targets: readonly Target[];
  /** The number of kills. */
  kills: number;
}

const LONGEST_PAUSE_MS = 1_000;
const PATIENCE_MS = 60_000;
/** A cache writes its log to the disk once a second, and waits for a busy disk. */
const LOG_DELAY_MS = 3_000;

/** An instance with its writers. */
interface Sleeper {
  ledger: Ledger;
  /**
   * How much of its confirmed writes a kill of its engine may cost, in milliseconds; infinite means all since its
   * latest sleep.
   */
  mayLoseMs: number;
  /** Writes that were confirmed before this time are on the disk, and no kill may lose them. */
  savedAtMs: number;
  naps: number;
}

export class SleepChaos {
  readonly #pilvi: TestPilvi;
  readonly #options: SleepChaosOptions;
  readonly #random: () => number;
  readonly #sleepers: Sleeper[] = [];
  readonly #killed: string[] = [];
  #isOver = false;

  constructor(pilvi: TestPilvi, options: SleepChaosOptions) {
    this.#pilvi = pilvi;
    this.#options = options;
    this.#random = randomOf(options.seed);
  }

  /** Runs until all kills are done, then checks all ledgers, and that every instance sleeps when asked to. */
  async run(): Promise<void> {
    console.log(`chaos with seed ${this.#options.seed}`);
    for (const kind of sleepyKinds(1))
      this.#sleepers.push(sleeperOf(await Ledger.begin(await kind.make(this.#pilvi))));
    const watch = new EngineWatch(
      this.#pilvi,
      this.#sleepers.map(({ ledger }) => ledger.resource.id),
    );
    const directors = this.#sleepers.map((sleeper) => this.#direct(sleeper));
    try {
      for (let kill = 0; kill < this.#options.kills; kill += 1) await this.#kill();
    } finally {
      this.#isOver = true;
    }
    await Promise.all(directors);
    await this.#pilvi.untilReady();
    for (const sleeper of this.#sleepers) await this.#check(sleeper);
    expect(watch.stop()).toEqual([]);
    const counts = this.#sleepers.map(({ naps }) => naps);
    console.log(`${this.#killed.length} kills, ${counts.join(" ")} sleeps: ${this.#killed.join(" ")}`);
    for (const count of counts) expect(count).toBeGreaterThan(0);
  }

  async #kill(): Promise<void> {
    await Bun.sleep(this.#random() * LONGEST_PAUSE_MS);
    const { targets } = this.#options;
    const target = targets[Math.floor(this.#random() * targets.length)] ?? "host";
    const victim = this.#sleepers[Math.floor(this.#random() * this.#sleepers.length)];
    this.#killed.push(target);
    if (target === "everything") {
      await cutPower(this.#pilvi);
      this.#sleepers.forEach(excuse);
      await this.#pilvi.start();
    } else if (target === "engine") {
      if (victim !== undefined) this.#killEngine(victim);
    } else {
      this.#pilvi.kill(...(target === "both" ? (["control", "host"] as const) : [target]));
    }
    // Half of the time the next kill comes before Pilvi has recovered from this kill.
    if (this.#random() < 0.5) await this.#pilvi.untilReady();
  }

  #killEngine(victim: Sleeper): void {
    for (const pid of processesOf(this.#pilvi, victim.ledger.resource.id)) killIfThere(pid);
    excuse(victim);
  }

  /** Has it write, sleep under writes, and sleep without writes, in turns. */
  async #direct(sleeper: Sleeper): Promise<void> {
    const { ledger } = sleeper;
    const fallsAsleep = ledger.resource.type === "databases";
    // Kills may come faster than it can fall asleep; at least one sleep of each instance has to be checked.
    while (!this.#isOver || sleeper.naps === 0) {
      await ledger.advance(1 + Math.floor(this.#random() * 20));
      if (fallsAsleep && this.#random() < 0.3) await this.#rest(sleeper);
      else await this.#suspend(sleeper);
    }
    ledger.resume();
    await ledger.advance(5);
    await ledger.stop();
  }

  async #suspend(sleeper: Sleeper): Promise<void> {
    const askedAtMs = performance.now();
    const answer = await suspend(this.#pilvi, sleeper.ledger.resource).catch(() => null);
    if (answer?.status !== 200) return;
    sleeper.naps += 1;
    // It may have slept before the request, but then no write was confirmed since.
    sleeper.savedAtMs = askedAtMs;
  }

  /** Writes pause until the instance sleeps, which it does by itself under any kill. */
  async #rest(sleeper: Sleeper): Promise<void> {
    const { ledger } = sleeper;
    ledger.pause();
    const { id } = ledger.resource;
    await until(`${id} falls asleep`, () => isRecordedAsleep(this.#pilvi, id), PATIENCE_MS);
    sleeper.naps += 1;
    ledger.resume();
  }

  async #check({ ledger }: Sleeper): Promise<void> {
    await ledger.check();
    await putToSleep(this.#pilvi, ledger.resource);
    const session = await openSession(ledger.resource);
    await session.numbers().finally(() => session.end());
    await ledger.check();
    await putToSleep(this.#pilvi, ledger.resource);
  }
}

/** Databases confirm writes that are on the disk; for caches the guide says what a crash costs. */
function sleeperOf(ledger: Ledger): Sleeper {
  const { resource } = ledger;
  const mayLoseMs =
    resource.type === "databases"
      ? 0
      : resource.attributes.eviction_policy === "noeviction"
        ? LOG_DELAY_MS
        : Infinity;
  return { ledger, mayLoseMs, savedAtMs: -Infinity, naps: 0 };
}

function excuse({ ledger, mayLoseMs, savedAtMs }: Sleeper): void {
  if (mayLoseMs > 0) ledger.excuse(Math.max(performance.now() - mayLoseMs, savedAtMs));
}
