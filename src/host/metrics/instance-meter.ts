// Adds up what one instance takes, until its minute is over.
import type { CountedInstance, CounterName, GaugeName, Reading } from "../../contracts/readings.ts";
import type { EngineReading } from "../../engines/engine.ts";
import type { ProcessUsage } from "../os/process-usage.ts";

const MINUTE_MS = 60_000;

/** An instance as the meter sees it at a moment. */
export interface MeteredInstance {
  id: string;
  /** Its engine's process; null while it has none. */
  process: { pid: number; wasFound: boolean } | null;
  /** The processors of its size. */
  cpus: number;
  /** How often it was woken. */
  wakes: number;
  /**
   * What its processes have taken so far, with the group that counted their processor time where a group did; null when
   * they have just ended.
   */
  usage(): (ProcessUsage & { group?: number }) | null;
  /** Asks the engine; null while it takes no connections, or when it has no figures. @throws when it does not answer. */
  ask(): Promise<EngineReading | null>;
}

/** The figures of the kernel in a minute. */
type Taken = Pick<Reading, "awakeMs" | "computeMs" | "cpuMs" | "wakes"> & { memorySum: number };

/** What an engine or a part of it has answered since the last reading. */
type Answers = Pick<Reading, CounterName | GaugeName>;
type Counters = EngineReading["counters"];

const nothing = (): Taken => ({ awakeMs: 0, computeMs: 0, cpuMs: 0, wakes: 0, memorySum: 0 });

export class InstanceMeter {
  #taken = nothing();
  /** The last sight of the instance, from which its time awake counts. */
  #seen: { atMs: number; isAwake: boolean } | null = null;
  /** The latest count of processor time, and what it is the count of. */
  #cpu: { of: string; ms: number } | null = null;
  #wakes: number | null = null;
  #counted: (CountedInstance & { isFormer?: true }) | null;
  #answers: Answers = {};
  #partAnswers = new Map<string, Answers>();
  #asking: Promise<void> | null = null;

  /** @param former the counters that an earlier host has read last. */
  constructor(former?: CountedInstance) {
    this.#counted = former === undefined ? null : { ...former, isFormer: true };
  }

  /** The counters of the latest answer; null before the first. */
  get counted(): CountedInstance | null {
    if (this.#counted === null) return null;
    const { isFormer: _isFormer, ...counted } = this.#counted;
    return counted;
  }

  /** Notes whether the engine has a process from now on. */
  see({ process, cpus, wakes }: MeteredInstance, nowMs: number): void {
    if (this.#seen?.isAwake === true) {
      const ms = Math.max(0, nowMs - this.#seen.atMs);
      this.#taken.awakeMs += ms;
      this.#taken.computeMs += ms * cpus;
    }
    this.#seen = { atMs: nowMs, isAwake: process !== null };
    // The meter begins when the instance is taken up, or with the wake that started its engine.
    const known = this.#wakes ?? (process?.wasFound === false ? wakes - 1 : wakes);
    this.#taken.wakes += Math.max(0, wakes - Math.max(0, known));
    this.#wakes = wakes;
  }

  /** Adds the processor time since the last sample, and the memory of this moment. */
  sample({ process, usage }: MeteredInstance): void {
    const used = process === null ? null : usage();
    if (process === null || used === null) return;
    // A group stays when its engine crashes, and counts on.
    const of = used.group === undefined ? `process ${process.pid}` : `group ${used.group}`;
    const known = this.#cpu?.of === of ? this.#cpu.ms : process.wasFound ? used.cpuMs : 0;
    this.#taken.cpuMs += Math.max(0, used.cpuMs - known);
    this.#taken.memorySum += used.memoryBytes;
    this.#cpu = { of, ms: used.cpuMs };
  }

  /** Asks the engine once for all callers. Never rejects. */
  async ask(instance: MeteredInstance): Promise<void> {
    this.#asking ??= this.#ask(instance).finally(() => (this.#asking = null));
    await this.#asking;
  }

  /** Ends the minute of the kernel's figures. @param samples how many samples all instances were to have in it. */
  endMinute(samples: number): Pick<Reading, "awakeMs" | "computeMs" | "cpuMs" | "wakes" | "memoryBytes"> {
    const { memorySum, ...rest } = this.#taken;
    const awakeMs = Math.min(rest.awakeMs, MINUTE_MS);
    // The timer of a minute may be late. What is above a minute belongs to the next, which is shorter by as much.
    this.#taken = { ...nothing(), awakeMs: Math.min(rest.awakeMs - awakeMs, MINUTE_MS) };
    return {
      ...rest,
      awakeMs,
      memoryBytes: Math.round(memorySum / Math.max(1, samples)),
    };
  }

  /** The figures of the engine, and of each of its parts, since the last call. */
  takeAnswers(): { whole: Answers; parts: ReadonlyMap<string, Answers> } {
    const answers = { whole: this.#answers, parts: this.#partAnswers };
    this.#answers = {};
    this.#partAnswers = new Map();
    return answers;
  }

  async #ask({ process, ask }: MeteredInstance): Promise<void> {
    const answer = process === null ? null : await ask().catch(() => null);
    if (process === null || answer === null) return;
    const base = this.#base(answer, process);
    const { isPerProcess, counters, parts = [] } = answer;
    this.#answers = added(this.#answers, answer, base?.counters ?? null);
    for (const part of parts) {
      const former = base === null ? null : (base.parts[part.id] ?? {});
      this.#partAnswers.set(part.id, added(this.#partAnswers.get(part.id) ?? {}, part, former));
    }
    const partCounters = Object.fromEntries(parts.map((part) => [part.id, part.counters]));
    this.#counted = { pid: process.pid, isPerProcess, counters, parts: partCounters };
  }

  /** The counters from which an answer counts; null where they are unknown, so that it is only the first. */
  #base(
    { isPerProcess, isSinceCreation }: EngineReading,
    { pid, wasFound }: NonNullable<MeteredInstance["process"]>,
  ): Pick<CountedInstance, "counters" | "parts"> | null {
    const fromZero = { counters: {}, parts: {} };
    if (this.#counted === null)
      return isSinceCreation === true || (isPerProcess && !wasFound) ? fromZero : null;
    if (!isPerProcess) return this.#counted;
    // A process of this host may have the number of a process from before a restart of the machine.
    const isSame = this.#counted.pid === pid && (wasFound || this.#counted.isFormer !== true);
    return isSame ? this.#counted : fromZero;
  }
}

/** The answers of a minute with another answer: counters add up, and of gauges the last counts. */
function added(
  answers: Answers,
  { counters, gauges }: Pick<EngineReading, "counters" | "gauges">,
  base: Counters | null,
): Answers {
  const sums = { ...answers, ...gauges };
  for (const [name, increase] of increases(counters, base)) sums[name] = (answers[name] ?? 0) + increase;
  return sums;
}

/** By how much each counter has risen. A crash may have set a counter back to zero. */
function increases(counters: Counters, base: Counters | null): [CounterName, number][] {
  return (Object.entries(counters) as [CounterName, number][]).map(([name, count]) => {
    const former = base === null ? count : (base[name] ?? 0);
    return [name, count >= former ? count - former : count];
  });
}
