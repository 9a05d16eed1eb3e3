// All measurements of the host: the disk use of instances, and the readings of each minute.
import {
  countedInstancesSchema,
  countedRoutesSchema,
  type ReadingsAnswer,
} from "../../contracts/readings.ts";
import type { StorageReading } from "../../contracts/host-answers.ts";
import type { Log } from "../../lib/log.ts";
import { diskUseOf } from "../os/disk-use.ts";
import { countedRoutesFile, countersFile, instanceFolder, readingsFile } from "../os/layout.ts";
import { StorageMeter, type MeasuredInstance } from "../os/storage-meter.ts";
import { CounterFile } from "./counter-file.ts";
import { ReadingBuffer } from "./reading-buffer.ts";
import { RequestMeter } from "./request-meter.ts";
import { Sampler, type SamplerParts } from "./sampler.ts";

/** Far more than a usual database has. Further files are not measured. */
const MAX_MEASURED_FILES = 200_000;

/** Finds what is to be measured. */
export interface Measured extends Pick<SamplerParts, "instances" | "find" | "clientsOf" | "replicaLagOf"> {
  stored(): MeasuredInstance[];
}

export class Measurements {
  readonly #storage: StorageMeter;
  readonly #buffer: ReadingBuffer;
  readonly #sampler: Sampler;
  /** What the edge says of requests. */
  readonly requests: RequestMeter;

  constructor(dataDir: string, log: Log, { stored, ...sampled }: Measured) {
    this.#storage = new StorageMeter(stored, (id) =>
      diskUseOf(instanceFolder(dataDir, id).path, MAX_MEASURED_FILES),
    );
    this.requests = new RequestMeter(
      new CounterFile(countedRoutesFile(dataDir), countedRoutesSchema, log),
      Date.now(),
    );
    this.#buffer = new ReadingBuffer(readingsFile(dataDir), log);
    this.#sampler = new Sampler({
      log,
      ...sampled,
      counters: new CounterFile(countersFile(dataDir), countedInstancesSchema, log),
      requests: () => this.requests.endMinute(),
      storageBytesOf: (id) => this.#storage.bytesOf(id),
      onBatch: (batch) => this.#buffer.add(batch),
    });
  }

  start(): void {
    void this.#storage.run();
    this.#sampler.start();
  }

  stop(): void {
    this.#storage.stop();
    this.#sampler.stop();
  }

  /** An instance has another state. */
  changed(id: string, state: string): void {
    this.#sampler.changed(id, state);
  }

  /** Ends the present minute early, for tests. */
  async endMinute(): Promise<void> {
    await this.#sampler.endMinute();
  }

  /** The latest measurement of the instances' disk use. */
  storage(cursor: string | undefined): StorageReading {
    return this.#storage.readingAfter(cursor);
  }

  /** The readings after a cursor, which says that all before were taken. */
  readings(cursor: string | undefined): ReadingsAnswer {
    return this.#buffer.after(cursor);
  }
}
