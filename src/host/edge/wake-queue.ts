// The requests that the edge holds because no instance of theirs runs: wakes them, and says where one is that runs.
import type { WakeQuestion, WakeRefusal } from "../../contracts/edge-wake.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { WakeReason } from "../../contracts/sleep.ts";
import { wokenByRequest } from "../../contracts/wake-reasons.ts";
import type { EdgeRoutes } from "./routes.ts";

/** The most requests that wait, of all routes and of one. */
const [MAX_WAITING, MAX_WAITING_OF_ROUTE] = [2_000, 500];

/** How long a request waits for its instance; the edge waits some longer. */
const WAIT_MS = 60_000;

/** The states from which a request wakes the instance. */
const SLEEPING: ReadonlySet<string> = new Set(["asleep", "draining"]);
/** The states from which an instance may yet run. */
const COMING: ReadonlySet<string> = new Set([...SLEEPING, "starting", "stopped"]);

/** An instance as the edge needs it. */
export interface EdgeInstance {
  state: Observation["state"];
  /** Its port while it runs; 0 otherwise, and for an instance without a port. */
  port: number;
  /** Whether it has a port to answer at. */
  answers: boolean;
  /** Starts it, once for all who ask. */
  wake(reason: WakeReason): void;
}

/** What the edge is answered: a port, or why there is none. */
type WakeAnswer = number | WakeRefusal;

interface Waiter {
  client: string;
  resolve(answer: WakeAnswer): void;
}

interface WakeQueueParts {
  routes: EdgeRoutes;
  find(instance: string): EdgeInstance | null;
  /** Tests do not wait for so long. */
  waitMs?: number;
}

export class WakeQueue {
  readonly #parts: WakeQueueParts;
  readonly #waiting = new Map<string, Set<Waiter>>();
  #count = 0;

  constructor(parts: WakeQueueParts) {
    this.#parts = parts;
  }

  /** How many requests wait. */
  get size(): number {
    return this.#count;
  }

  /** Has the instances of a route woken; the first that runs answers. @param signal aborted when the client has left. */
  async ask({ route, client }: WakeQuestion, signal: AbortSignal): Promise<WakeAnswer> {
    const now = this.#answerOf(route, client);
    if (now !== null) return now;
    const others = this.#waiting.get(route) ?? new Set();
    if (others.size >= MAX_WAITING_OF_ROUTE) return "busy";
    if (this.#count >= MAX_WAITING && !this.#makeRoom(others.size)) return "busy";
    const { promise, resolve } = Promise.withResolvers<WakeAnswer>();
    const timer = setTimeout(() => resolve("late"), this.#parts.waitMs ?? WAIT_MS);
    const leave = () => resolve("late");
    signal.addEventListener("abort", leave);
    const waiter = { client, resolve };
    this.#waiting.set(route, others.add(waiter));
    this.#count += 1;
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      others.delete(waiter);
      if (others.size === 0 && this.#waiting.get(route) === others) this.#waiting.delete(route);
      this.#count -= 1;
    }
  }

  /** Wakes the sleeping instances of a route. Instances that are still falling asleep are left alone. */
  wake(route: string, reason: WakeReason): void {
    const { routes, find } = this.#parts;
    const instances = (routes.get(route)?.instances ?? []).flatMap((id) => find(id) ?? []);
    for (const instance of instances) if (instance.state === "asleep") instance.wake(reason);
  }

  /** Sends the oldest request of the fullest route away, unless that route has no more than the route of the asker. */
  #makeRoom(ownSize: number): boolean {
    const fullest = [...this.#waiting.values()].reduce((a, b) => (b.size > a.size ? b : a));
    const [oldest] = fullest;
    if (oldest === undefined || fullest.size <= ownSize + 1) return false;
    fullest.delete(oldest);
    oldest.resolve("busy");
    return true;
  }

  /** The route, or the state of an instance, has changed. */
  changed(route: string): void {
    const waiters = this.#waiting.get(route);
    const [first] = waiters ?? [];
    if (waiters === undefined || first === undefined) return;
    const answer = this.#answerOf(route, first.client);
    if (answer !== null) for (const { resolve } of waiters) resolve(answer);
  }

  /** Null while waiting can help. Wakes the sleeping instances on the way. */
  #answerOf(route: string, client: string): WakeAnswer | null {
    const { routes, find } = this.#parts;
    const known = routes.get(route);
    if (known === undefined) return "unknown";
    const instances = known.instances.flatMap((id) => find(id) ?? []);
    for (const instance of instances) if (SLEEPING.has(instance.state)) instance.wake(wokenByRequest(client));
    const running = instances.find(({ state, port }) => state === "running" && port > 0);
    if (running !== undefined) return running.port;
    return instances.some(({ state, answers }) => answers && COMING.has(state)) ? null : "failed";
  }
}
