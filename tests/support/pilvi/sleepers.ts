// Instances that tests suspend, and the reports of their sleep.
import { expect } from "bun:test";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import { processesOf } from "./databases.ts";
import { until, type Answer, type TestPilvi } from "./pilvi.ts";
import { requestSuspend, type SleeperDocument } from "./suspends.ts";

type Resource = CacheResource | DatabaseClusterResource;
type Sleep = Resource["meta"]["sleep"];

const ADDRESS = /^127\.0\.0\.1:\d+$/;

/** The address of the client, without its random port. */
export interface Waker {
  user: string;
  database: string | null;
  application: string | null;
}

/** An instance that is asleep when clients connect. */
export class Sleeper {
  readonly #pilvi: TestPilvi;
  readonly #id: string;
  readonly #path: string;

  constructor(pilvi: TestPilvi, { id, type }: Resource) {
    this.#pilvi = pilvi;
    this.#id = id;
    this.#path = `${type === "caches" ? "/caches" : "/databases/clusters"}/${id}`;
  }

  /** Suspends it through the API. @throws with the reason that keeps it awake. */
  async sleep(): Promise<void> {
    const { status, body } = await requestSuspend(this.#pilvi, this.#path);
    if (status !== 200) throw new Error(`it does not sleep: ${status} ${JSON.stringify(body)}`);
    expect(body.data.meta.sleep.state).toBe("asleep");
    expect(this.#processes).toEqual([]);
  }

  /** Requests a suspend once. */
  async suspend(): Promise<Answer<SleeperDocument>> {
    return await this.#pilvi.api<SleeperDocument>("POST", `${this.#path}/suspend`);
  }

  async state(): Promise<Sleep> {
    return (await this.#pilvi.api<SleeperDocument>("GET", this.#path)).body.data.meta.sleep;
  }

  /** Runs a client that wakes it, and waits until the API reports exactly this wake. */
  async wokenBy<T>(waker: Waker, use: () => Promise<T>): Promise<T> {
    await this.sleep();
    const before = await this.state();
    const result = await use();
    let now = before;
    await until("the wake is shown", async () => {
      now = await this.state();
      return now.state === "awake" && !Bun.deepEquals(now.last_wake, before.last_wake);
    });
    expect(now.wakes).toBe(before.wakes + 1);
    expect(Date.parse(now.last_wake?.at ?? "")).toBeGreaterThanOrEqual(Date.parse(before.since ?? ""));
    expect(now.last_wake?.reason).toEqual({ ...waker, address: expect.stringMatching(ADDRESS) as string });
    return result;
  }

  /** Runs an attempt that must not wake it. */
  async sleepsThrough<T>(attempt: () => Promise<T>): Promise<T> {
    await this.sleep();
    const before = await this.state();
    const result = await attempt();
    expect(await this.state()).toEqual(before);
    expect(this.#processes).toEqual([]);
    return result;
  }

  /**
   * Requests its suspend in the middle of an activity: it succeeds when the activity has ended well, and not before. An
   * activity that goes on after the suspend fails, or wakes it again. The order in which the two answers arrive would
   * show nothing: they come over connections of their own.
   * @param work calls its argument in the middle.
   */
  async sleepsAfter(work: (ask: () => void) => Promise<unknown>): Promise<void> {
    const asked = Promise.withResolvers<void>();
    const sleep = asked.promise.then(() => this.sleep());
    await Promise.all([work(asked.resolve), sleep]);
    expect(this.#processes).toEqual([]);
  }

  get #processes(): number[] {
    return processesOf(this.#pilvi, this.#id);
  }
}

/** A file with the authority's certificate, as `pilvi ca` prints it. */
export async function writeAuthority(pilvi: TestPilvi): Promise<string> {
  const file = join(pilvi.dataDir, "authority.crt");
  writeFileSync(file, (await pilvi.run("ca")).stdout);
  return file;
}
