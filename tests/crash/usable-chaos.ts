// Customers who make and use caches and clusters while processes are killed and frozen: every `available` resource can
// be used.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../src/lib/errors.ts";
import { processesOf } from "../support/pilvi/databases.ts";
import { freshDataDir, type ProcessName, type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import { openSession, type Resource } from "./ledger-sessions.ts";
import { randomOf } from "./random.ts";
import { pathOf, read, sleepyKinds, suspend } from "./sleepers.ts";

/** The processes that are killed or frozen at once. */
const TARGETS: readonly (readonly (ProcessName | "engine" | "store")[])[] = [
  ["control"],
  ["host"],
  ["gateway"],
  ["engine"],
  ["store"],
  ["host", "gateway"],
  ["host", "engine"],
  ["control", "host", "gateway"],
];
const CUSTOMERS = 3;
/** How often a customer returns to a resource before it is deleted. */
const MOST_USES = 5;
/** How long a login may hang before it counts as failed. */
const LOGIN_MS = 20_000;
const LONGEST_PAUSE_MS = 1_500;
const LONGEST_FREEZE_MS = 7_000;
/** How soon a resource that the API calls available has to accept its published credentials. */
const USABLE_WITHIN_MS = 30_000;
const PATIENCE_MS = 120_000;
const LAST_LINES = 40;

export interface UsableChaosOptions {
  seed: number;
  seconds: number;
}

export class UsableChaos {
  readonly #pilvi: TestPilvi;
  readonly #random: () => number;
  readonly #options: UsableChaosOptions;
  readonly #faults: string[] = [];
  readonly #living = new Set<string>();
  #isOver = false;
  /** When the latest kill or freeze ended. */
  #calmSinceMs = 0;
  #used = 0;
  #kills = 0;

  constructor(pilvi: TestPilvi, options: UsableChaosOptions) {
    this.#pilvi = pilvi;
    this.#options = options;
    this.#random = randomOf(options.seed);
  }

  /** @returns the unusable resources, each with all known evidence; its instance is kept. */
  async run(): Promise<string[]> {
    const customers = Array.from({ length: CUSTOMERS }, () => this.#customer());
    const endsAtMs = performance.now() + this.#options.seconds * 1_000;
    try {
      while (performance.now() < endsAtMs && this.#faults.length === 0) await this.#harm();
    } finally {
      this.#isOver = true;
    }
    await Promise.all(customers);
    console.log(`seed ${this.#options.seed}: ${this.#kills} kills and freezes, ${this.#used} resources used`);
    return this.#faults;
  }

  async #harm(): Promise<void> {
    await Bun.sleep(this.#random() * LONGEST_PAUSE_MS);
    const pids = (this.#pick(TARGETS) ?? ["host"]).flatMap((target) => this.#pidsOf(target));
    this.#kills += 1;
    if (this.#random() < 0.5) {
      for (const pid of pids) killIfThere(pid);
    } else {
      for (const pid of pids) signal(pid, "SIGSTOP");
      await Bun.sleep(this.#random() * LONGEST_FREEZE_MS);
      for (const pid of pids) signal(pid, "SIGCONT");
    }
    this.#calmSinceMs = performance.now();
    if (this.#random() < 0.5) await this.#untilReady();
  }

  async #untilReady(): Promise<void> {
    try {
      await this.#pilvi.untilReady();
    } catch (error) {
      const answer = await fetch(`${this.#pilvi.url}/readyz`).then((response) => response.text(), messageOf);
      this.#faults.push(`${messageOf(error)}: ${answer}; kept in ${this.#keepEvidence()}`);
    }
  }

  #pidsOf(target: ProcessName | "engine" | "store"): number[] {
    if (target === "engine" || target === "store") {
      const id = target === "store" ? "store" : this.#pick([...this.#living]);
      return id === undefined ? [] : this.#pilvi.enginePids(id);
    }
    const pid = this.#pilvi.pidOf(target);
    return pid === undefined ? [] : [pid];
  }

  async #customer(): Promise<void> {
    while (!this.#isOver) {
      const kind = this.#pick(sleepyKinds());
      const made = await kind?.make(this.#pilvi).catch(() => null);
      if (made === undefined || made === null) continue;
      this.#living.add(made.id);
      const fault = await this.#useAgainAndAgain(made);
      this.#living.delete(made.id);
      if (fault !== null) this.#faults.push(fault);
      else await this.#delete(made);
    }
  }

  /** Uses a resource some times, now and then after a suspend by the customer. @returns the reason of a failure. */
  async #useAgainAndAgain(resource: Resource): Promise<string | null> {
    const uses = 1 + Math.floor(this.#random() * MOST_USES);
    for (let use = 0; use < uses; use += 1) {
      const fault = await this.#use(resource);
      if (fault !== null) return fault;
      if (this.#random() < 0.5) await suspend(this.#pilvi, resource).catch(() => null);
    }
    return null;
  }

  /** Logs in with the published credentials until that works. @returns the reason of a failure. */
  async #use(resource: Resource): Promise<string | null> {
    const beganAtMs = performance.now();
    for (;;) {
      const error = await loginError(resource);
      if (error === undefined) {
        this.#used += 1;
        return null;
      }
      const now = await read(this.#pilvi, resource).catch(() => null);
      const waitedMs = performance.now() - beganAtMs;
      const calmMs = Math.min(waitedMs, performance.now() - this.#calmSinceMs);
      const isAvailable = now?.attributes.status === "available";
      if ((isAvailable && calmMs > USABLE_WITHIN_MS) || waitedMs > PATIENCE_MS)
        return this.#reportOn(resource, now, error);
      await Bun.sleep(50);
    }
  }

  #reportOn(resource: Resource, now: Resource | null, error: string): string {
    const folder = join(this.#pilvi.dataDir, "instances", resource.id);
    const pids = processesOf(this.#pilvi, resource.id);
    return [
      `${resource.id} cannot be used: ${error}; kept in ${this.#keepEvidence()}`,
      JSON.stringify({ status: now?.attributes.status, meta: now?.meta, pids }),
      lastLinesOf(join(folder, "manifest.json")),
      lastLinesOf(join(folder, "engine.log")),
    ].join("\n");
  }

  /** Copies the data directory and the log, since the test deletes both. @returns the folder of the copy. */
  #keepEvidence(): string {
    const folder = freshDataDir();
    writeFileSync(join(folder, "pilvi.log"), this.#pilvi.log());
    // Sockets cannot be copied, and files vanish while engines run.
    const instances = join(this.#pilvi.dataDir, "instances");
    for (const id of ["store", ...this.#living]) {
      try {
        cpSync(join(instances, id), join(folder, id), {
          recursive: true,
          filter: (path) => !path.includes("/run"),
        });
      } catch (reason) {
        writeFileSync(join(folder, `${id}.error`), messageOf(reason));
      }
    }
    return folder;
  }

  async #delete(resource: Resource): Promise<void> {
    const isTaken = async () => {
      const answer = await this.#pilvi.api("DELETE", pathOf(resource)).catch(() => null);
      return answer?.status === 204 || answer?.status === 404;
    };
    await until(`${resource.id} is deleted`, isTaken, PATIENCE_MS);
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }
}

/** Logs in once. @returns the reason of a failure, undefined on success. */
async function loginError(resource: Resource): Promise<string | undefined> {
  const login = openSession(resource).then(
    async (session) => void (await session.end()),
    (reason: unknown) => messageOf(reason),
  );
  const timeout = Promise.withResolvers<string>();
  const timer = setTimeout(() => timeout.resolve(`no answer within ${LOGIN_MS} ms`), LOGIN_MS);
  try {
    return await Promise.race([login, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended meanwhile.
  }
}

function lastLinesOf(path: string): string {
  try {
    return readFileSync(path, "utf8").split("\n").slice(-LAST_LINES).join("\n");
  } catch (reason) {
    return messageOf(reason);
  }
}
