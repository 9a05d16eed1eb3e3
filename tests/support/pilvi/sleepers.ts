// Instances that tests put to sleep, and what is told of their sleep.
import { expect } from "bun:test";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import { processesOf } from "./databases.ts";
import { until, type Answer, type TestPilvi } from "./pilvi.ts";

type Resource = CacheResource | DatabaseClusterResource;
type Sleep = Resource["meta"]["sleep"];

interface Document {
  data: Resource;
  message?: string;
}

const ADDRESS = /^127\.0\.0\.1:\d+$/;

/** Whose client it was, without the port that the client happened to have. */
export interface Waker {
  user: string;
  database: string | null;
  application: string | null;
}

/** The host's reason for leaving an engine awake that did not answer in time. */
const SILENT_ENGINE = "The engine did not tell whether it is in use.";

/** An instance that clients find asleep. */
export class Sleeper {
  readonly #pilvi: TestPilvi;
  readonly #id: string;
  readonly #path: string;

  constructor(pilvi: TestPilvi, { id, type }: Resource) {
    this.#pilvi = pilvi;
    this.#id = id;
    this.#path = `${type === "caches" ? "/caches" : "/databases/clusters"}/${id}`;
  }

  /** Puts it to sleep through the API. @throws with what keeps it awake. */
  async sleep(): Promise<void> {
    let answer = await this.suspend();
    // An engine on a busy machine may be late with its answer to the host, once; the customer is told to ask again.
    if (answer.status === 409 && answer.body.message === SILENT_ENGINE) answer = await this.suspend();
    const { status, body } = answer;
    if (status !== 200) throw new Error(`it does not sleep: ${status} ${JSON.stringify(body)}`);
    expect(body.data.meta.sleep.state).toBe("asleep");
    expect(this.#processes).toEqual([]);
  }

  /** Asks for sleep once. */
  async suspend(): Promise<Answer<Document>> {
    return await this.#pilvi.api<Document>("POST", `${this.#path}/suspend`);
  }

  async state(): Promise<Sleep> {
    return (await this.#pilvi.api<Document>("GET", this.#path)).body.data.meta.sleep;
  }

  /** Has a client use it that finds it asleep, and waits until that is told as the one wake that there was. */
  async wokenBy<T>(waker: Waker, use: () => Promise<T>): Promise<T> {
    await this.sleep();
    const before = await this.state();
    const result = await use();
    let now = before;
    await until("the wake is told", async () => {
      now = await this.state();
      return now.state === "awake" && !Bun.deepEquals(now.last_wake, before.last_wake);
    });
    expect(now.wakes).toBe(before.wakes + 1);
    expect(Date.parse(now.last_wake?.at ?? "")).toBeGreaterThanOrEqual(Date.parse(before.since ?? ""));
    expect(now.last_wake?.reason).toEqual({ ...waker, address: expect.stringMatching(ADDRESS) as string });
    return result;
  }

  /** Has somebody try what does not wake it. */
  async sleepsThrough<T>(attempt: () => Promise<T>): Promise<T> {
    await this.sleep();
    const before = await this.state();
    const result = await attempt();
    expect(await this.state()).toEqual(before);
    expect(this.#processes).toEqual([]);
    return result;
  }

  /**
   * Asks it to sleep in the middle of something: it does when that has ended well, and not before.
   * @param work calls its argument in the middle.
   */
  async sleepsAfter(work: (ask: () => void) => Promise<unknown>): Promise<void> {
    const ends: string[] = [];
    const asked = Promise.withResolvers<void>();
    const sleep = asked.promise.then(() => this.sleep());
    await Promise.all([
      work(asked.resolve).then(() => ends.push("the work")),
      sleep.then(() => ends.push("sleep")),
    ]);
    expect(ends).toEqual(["the work", "sleep"]);
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
