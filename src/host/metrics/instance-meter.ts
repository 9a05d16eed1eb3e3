// Adds up what one instance takes, until its minute is over.
import type { CounterName, GaugeName, Reading } from "../../contracts/readings.ts";
import type { EngineReading } from "../../engines/engine.ts";
import type { ProcessUsage } from "../os/process-usage.ts";

/** An instance as the meter sees it at a moment. */
export interface MeteredInstance {
  id: string;
  /** Its engine's process; null while it has none. */
  process: { pid: number; wasFound: boolean } | null;
  /** The processors of its size. */
  cpus: number;
  /** How often it was woken. */
  wakes: number;
  /** What its processes have taken so far; null when they have just ended. */
  usage(): ProcessUsage | null;
  /** Asks the engine; null while it takes no connections, or when it has no figures. @throws when it does not answer. */
  ask(): Promise<EngineReading | null>;
}

/** The figures of the kernel in a minute. */
type Taken = Pick<Reading, "awakeMs" | "computeMs" | "cpuMs" | "wakes"> & { memorySum: number };

/** The counters of an engine at its latest answer. */
interface Counted {
  pid: number;
  isPerProcess: boolean;
  counters: EngineReading["counters"];
}

const nothing = (): Taken => ({ awakeMs: 0, computeMs: 0, cpuMs: 0, wakes: 0, memorySum: 0 });

export class InstanceMeter {
  #taken = nothing();
  /** The last sight of the instance, from which its time awake counts. */
  #seen: { atMs: number; isAwake: boolean } | null = null;
  #cpu: { pid: number; ms: number } | null = null;
  #wakes: number | null = null;
  #counted: Counted | null = null;
  #increase: Partial<Record<CounterName, number>> = {};
  #gauges: Partial<Record<GaugeName, number>> = {};
  #asking: Promise<void> | null = null;

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
    const { pid, wasFound } = process;
    const known = this.#cpu?.pid === pid ? this.#cpu.ms : wasFound ? used.cpuMs : 0;
    this.#taken.cpuMs += Math.max(0, used.cpuMs - known);
    this.#taken.memorySum += used.memoryBytes;
    this.#cpu = { pid, ms: used.cpuMs };
  }

  /** Asks the engine once for all callers. Never rejects. */
  async ask(instance: MeteredInstance): Promise<void> {
    this.#asking ??= this.#ask(instance).finally(() => (this.#asking = null));
    await this.#asking;
  }

  /** Ends the minute of the kernel's figures. @param samples how many samples all instances were to have in it. */
  endMinute(samples: number): Pick<Reading, "awakeMs" | "computeMs" | "cpuMs" | "wakes" | "memoryBytes"> {
    const { memorySum, ...rest } = this.#taken;
    this.#taken = nothing();
    return { ...rest, memoryBytes: Math.round(memorySum / Math.max(1, samples)) };
  }

  /** The figures of the engine since the last call. */
  takeAnswers(): Pick<Reading, CounterName | GaugeName> {
    const answers = { ...this.#increase, ...this.#gauges };
    this.#increase = {};
    this.#gauges = {};
    return answers;
  }

  async #ask({ process, ask }: MeteredInstance): Promise<void> {
    const answer = process === null ? null : await ask().catch(() => null);
    if (process === null || answer === null) return;
    this.#gauges = answer.gauges;
    for (const [name, increase] of increases(answer, this.#base(answer, process))) {
      this.#increase[name] = (this.#increase[name] ?? 0) + increase;
    }
    const { isPerProcess, counters } = answer;
    this.#counted = { pid: process.pid, isPerProcess, counters };
  }

  /** The counters from which an answer counts; null where they are unknown, so that it is only the first. */
  #base(
    { isPerProcess }: EngineReading,
    { pid, wasFound }: NonNullable<MeteredInstance["process"]>,
  ): EngineReading["counters"] | null {
    if (this.#counted !== null && (!isPerProcess || this.#counted.pid === pid)) return this.#counted.counters;
    return isPerProcess && !wasFound ? {} : null;
  }
}

/** By how much each counter has risen. A crash may have set a counter back to zero. */
function increases(
  { counters }: EngineReading,
  base: EngineReading["counters"] | null,
): [CounterName, number][] {
  return (Object.entries(counters) as [CounterName, number][]).map(([name, count]) => {
    const former = base === null ? count : (base[name] ?? 0);
    return [name, count >= former ? count - former : count];
  });
}
