// Adds up the requests of each route until their minute is over: how many answers the edge has counted, and how long they
// took. The counts are exact; the times are those of requests that the edge has written a line about.
import {
  answerNames,
  answerTimeNames,
  answerTimes,
  type CountedRoute,
  type Reading,
} from "../../contracts/readings.ts";
import type { RouteUse } from "../../engines/edge.ts";
import type { CounterFile } from "./counter-file.ts";

const BOUNDS_MS = answerTimeNames.map((name) => answerTimes[name]);

/** What a minute has had of a route; one object for all its requests, so that a line costs a few additions. */
interface Taken {
  /** In the order of `answerNames`. */
  answers: number[];
  /** In the order of `answerTimeNames`. */
  times: number[];
  sumMs: number;
}

export class RequestMeter {
  readonly #file: Pick<CounterFile<CountedRoute>, "former" | "write" | "wasKept">;
  readonly #startedMs: number;
  #taken = new Map<string, Taken>();
  /** The counts of the latest answer of the edge; null before the first. */
  #known: ReadonlyMap<string, CountedRoute> | null = null;

  /** @param startedMs since when this host runs. */
  constructor(file: Pick<CounterFile<CountedRoute>, "former" | "write" | "wasKept">, startedMs: number) {
    this.#file = file;
    this.#startedMs = startedMs;
  }

  /** Takes what the edge has counted of each route that it remembers. */
  counted(usage: ReadonlyMap<string, Pick<RouteUse, "counted">>): void {
    const former = this.#known;
    const known = new Map<string, CountedRoute>();
    for (const [route, { counted }] of usage) {
      if (counted === null) continue;
      known.set(route, counted);
      const base = this.#baseOf(counted, former?.get(route) ?? this.#file.former(route));
      const increases = counted.answers.map((count, index) => count - (base?.[index] ?? 0));
      if (!increases.some((count) => count > 0)) continue;
      const { answers } = this.#of(route);
      for (const [index, count] of increases.entries()) answers[index] = (answers[index] ?? 0) + count;
    }
    this.#known = known;
  }

  /** Takes the time until an answer began. */
  answered(route: string, ms: number): void {
    const taken = this.#of(route);
    let index = 0;
    while (ms > (BOUNDS_MS[index] ?? Number.POSITIVE_INFINITY)) index += 1;
    taken.times[index] = (taken.times[index] ?? 0) + 1;
    taken.sumMs += ms;
  }

  /** Ends the minute. The counts are kept on the disk before their readings are, so that a kill counts none twice. */
  endMinute(): Reading[] {
    const readings = [...this.#taken].map(([route, taken]) => readingOf(route, taken));
    this.#taken = new Map();
    if (this.#known !== null) this.#file.write(this.#known, new Set(this.#known.keys()));
    return readings;
  }

  /** The counts that earlier readings have; undefined where the edge has counted from zero since. */
  #baseOf(counted: CountedRoute, former: CountedRoute | undefined): readonly number[] | undefined {
    const isSame =
      former?.since === counted.since &&
      counted.answers.every((count, index) => count >= (former.answers[index] ?? 0));
    if (isSame) return former.answers;
    // Without the counts of an earlier host nobody knows which of these are in its readings.
    const isOlder = counted.since * 1_000 < this.#startedMs;
    return this.#known === null && !this.#file.wasKept && isOlder ? counted.answers : undefined;
  }

  #of(route: string): Taken {
    const known = this.#taken.get(route);
    if (known !== undefined) return known;
    const taken = { answers: answerNames.map(() => 0), times: BOUNDS_MS.map(() => 0), sumMs: 0 };
    this.#taken.set(route, taken);
    return taken;
  }
}

/** A reading of an environment has no process: the processes of the environment have readings of their own. */
const NO_PROCESS = { awakeMs: 0, computeMs: 0, cpuMs: 0, memoryBytes: 0, wakes: 0 };

function readingOf(id: string, { answers, times, sumMs }: Taken): Reading {
  const isTimed = times.some((count) => count > 0);
  const counts = { ...named(answerNames, answers), ...named(answerTimeNames, times) };
  return { id, ...NO_PROCESS, ...counts, ...(isTimed && { responseMs: sumMs }) };
}

/** The counts that are not zero, by their names. */
function named<Name extends string>(
  names: readonly Name[],
  counts: readonly number[],
): Partial<Record<Name, number>> {
  const entries = names.map((name, index) => [name, counts[index] ?? 0] as const);
  return Object.fromEntries(entries.filter(([, count]) => count > 0)) as Partial<Record<Name, number>>;
}
