// Samples all instances four times a minute, asks their engines once, and publishes a batch for each minute.
import {
  gaugeNames,
  type CountedInstance,
  type Reading,
  type ReadingBatch,
} from "../../contracts/readings.ts";
import { forEachLimited } from "../../lib/for-each-limited.ts";
import { guarded } from "../../lib/guarded.ts";
import type { Log } from "../../lib/log.ts";
import type { CounterFile } from "./counter-file.ts";
import { InstanceMeter, type MeteredInstance } from "./instance-meter.ts";

const MINUTE_MS = 60_000;
const SAMPLE_INTERVAL_MS = 15_000;

/** Asking is spread out, so that it does not take the processor from clients. */
const ASKED_AT_ONCE = 4;
/** A busy engine is left out of its minute; its counters then come with the next. */
const ANSWER_TIMEOUT_MS = 5_000;

/** The figures of an instance that has slept for a whole minute. */
const ASLEEP = {
  awakeMs: 0,
  computeMs: 0,
  cpuMs: 0,
  memoryBytes: 0,
  wakes: 0,
  ...Object.fromEntries(gaugeNames.map((name) => [name, 0])),
};

/** The parts that a sampler works with. */
export interface SamplerParts {
  log: Pick<Log, "warn">;
  /** All instances of the host that may have customers. */
  instances(): MeteredInstance[];
  find(id: string): MeteredInstance | undefined;
  storageBytesOf(id: string): number | undefined;
  /** How many clients have logged in at the gateway; undefined for an instance that is not behind it. */
  clientsOf(id: string): number | undefined;
  /** How far a replica is behind; undefined while that is not known, and for any other instance. */
  replicaLagOf(id: string): number | undefined;
  /** Keeps the counters for the next host. */
  counters: Pick<CounterFile<CountedInstance>, "former" | "write">;
  /** Ends the minute of requests, and has their readings. */
  requests(): Reading[];
  onBatch(batch: ReadingBatch): void;
}

export class Sampler {
  readonly #parts: SamplerParts;
  readonly #meters = new Map<string, InstanceMeter>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #minute = minuteOf(Date.now());
  #samples = 0;

  constructor(parts: SamplerParts) {
    this.#parts = parts;
  }

  /** Samples on each quarter of a minute of the clock, until `stop`. */
  start(): void {
    this.#sampleAll();
    const run = () => {
      this.#timer = setTimeout(run, untilNextSampleMs());
      this.#timer.unref();
      if (minuteOf(Date.now()) === this.#minute) this.#sampleAll();
      else void this.endMinute();
    };
    this.#timer = setTimeout(run, untilNextSampleMs());
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Notes another state of an instance, so that the time awake is exact. */
  changed(id: string, state: string): void {
    const instance = this.#parts.find(id);
    if (instance === undefined || (instance.process === null && !this.#meters.has(id))) return;
    const meter = this.#meterOf(id);
    if (state === "draining") {
      // The last answer before a sleep; without it all since the last minute would be lost.
      this.#sample(meter, instance);
      void meter.ask(instance);
    }
    meter.see(instance, performance.now());
  }

  /** Ends the minute that began last, whatever the clock says, and publishes its batch. */
  async endMinute(): Promise<void> {
    this.#sampleAll();
    const at = new Date(this.#minute).toISOString();
    const samples = this.#samples;
    this.#minute = minuteOf(Date.now());
    this.#samples = 0;
    const taken = this.#parts.instances().flatMap((instance) => {
      const meter = this.#meters.get(instance.id);
      return meter === undefined ? [] : [{ instance, meter, figures: meter.endMinute(samples) }];
    });
    await forEachLimited(taken, ASKED_AT_ONCE, ({ instance, meter }) =>
      Promise.race([meter.ask(instance), Bun.sleep(ANSWER_TIMEOUT_MS)]),
    );
    const awake = taken
      .filter(({ figures }) => figures.awakeMs > 0)
      .flatMap(({ instance: { id }, meter, figures }) => this.#readingsOf(id, meter, figures));
    const asleep = this.#asleep(new Set(awake.map(({ id }) => id)));
    this.#keepCounters();
    this.#parts.onBatch({ at, readings: [...awake, ...asleep, ...this.#parts.requests()] });
  }

  /** Instances without a process whose clients stay at the gateway. */
  #asleep(awake: Set<string>): Reading[] {
    return this.#parts.instances().flatMap(({ id }) => {
      const gatewayConnections = awake.has(id) ? 0 : (this.#parts.clientsOf(id) ?? 0);
      return gatewayConnections === 0 ? [] : [{ ...ASLEEP, id, gatewayConnections }];
    });
  }

  #keepCounters(): void {
    const counted = [...this.#meters].flatMap(([id, meter]) =>
      meter.counted === null ? [] : [[id, meter.counted] as const],
    );
    const present = new Set(this.#parts.instances().map(({ id }) => id));
    this.#parts.counters.write(new Map(counted), present);
  }

  /** The reading of an instance, and those of its parts. */
  #readingsOf(id: string, meter: InstanceMeter, figures: ReturnType<InstanceMeter["endMinute"]>): Reading[] {
    const storageBytes = this.#parts.storageBytesOf(id);
    const gatewayConnections = this.#parts.clientsOf(id);
    const replicaLagSeconds = this.#parts.replicaLagOf(id);
    const { whole, parts } = meter.takeAnswers();
    const ofInstance = {
      id,
      ...figures,
      ...(storageBytes !== undefined && { storageBytes }),
      ...(replicaLagSeconds !== undefined && { replicaLagSeconds }),
      ...whole,
      ...(gatewayConnections !== undefined && { gatewayConnections }),
    };
    return [ofInstance, ...[...parts].map(([part, answers]) => partReading(part, figures.awakeMs, answers))];
  }

  #sampleAll(): void {
    const instances = this.#parts.instances();
    const present = new Set(instances.map(({ id }) => id));
    for (const id of this.#meters.keys()) if (!present.has(id)) this.#meters.delete(id);
    for (const instance of instances) {
      // A host may be full of instances that have slept since its start.
      if (instance.process === null && !this.#meters.has(instance.id)) continue;
      const meter = this.#meterOf(instance.id);
      meter.see(instance, performance.now());
      this.#sample(meter, instance);
    }
    this.#samples += 1;
  }

  /** An instance whose figures cannot be read lacks this sample, and no other instance does. */
  #sample(meter: InstanceMeter, instance: MeteredInstance): void {
    guarded(this.#parts.log, "the usage of an instance could not be read", () => meter.sample(instance));
  }

  #meterOf(id: string): InstanceMeter {
    const known = this.#meters.get(id);
    if (known !== undefined) return known;
    const meter = new InstanceMeter(this.#parts.counters.former(id));
    this.#meters.set(id, meter);
    return meter;
  }
}

/** The reading of a part, which takes no processor and no memory of its own. */
function partReading(id: string, awakeMs: number, answers: Partial<Reading>): Reading {
  return { id, awakeMs, computeMs: 0, cpuMs: 0, memoryBytes: 0, wakes: 0, ...answers };
}

function untilNextSampleMs(): number {
  return SAMPLE_INTERVAL_MS - (Date.now() % SAMPLE_INTERVAL_MS);
}

function minuteOf(ms: number): number {
  return ms - (ms % MINUTE_MS);
}
