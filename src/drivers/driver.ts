// The interface of a driver: instances as data, without a word on how they are run.
import type { Figures, Offer, Series, StorageReading } from "../contracts/host-answers.ts";
import type { JournalRecord } from "../contracts/journal.ts";
import type { InstanceSpec } from "../contracts/instance-spec.ts";
import type { Observation } from "../contracts/observation.ts";
import type { ReadingsAnswer } from "../contracts/readings.ts";

/** Selects metrics of an instance. */
export interface MetricsQuery {
  /** A part of the instance, such as an application; the whole instance when left out. */
  part?: string;
  /** How far back the metrics go. */
  periodSeconds: number;
}

/** Runs instances somewhere: processes on this machine today, pods of a cluster later. */
export interface Driver {
  /** The engines and the memory for new instances. */
  offer(): Promise<Offer>;
  /**
   * Makes the instance as the spec says; resolves when it runs or has failed to start. Can be called again at any time.
   * @throws PublicError when the driver cannot be reached or refuses the spec.
   */
  ensure(spec: InstanceSpec, signal?: AbortSignal): Promise<Observation>;
  /**
   * Puts the instance to sleep without waiting until it is idle; resolves when it sleeps, at once when it slept before.
   * @throws PublicError when it cannot sleep now, with a sentence that says what keeps it awake; it then runs as
   *   before.
   */
  suspend(id: string, signal?: AbortSignal): Promise<Observation>;
  /**
   * Stops the instance, deletes all that belongs to it, and resolves when nothing is left. The instance may be absent.
   */
  remove(id: string): Promise<void>;
  /** The instance as it is now; an unknown id is `absent`. */
  observe(id: string): Promise<Observation>;
  /**
   * Time series of an instance; empty for an instance that keeps none.
   * @throws PublicError when the driver or the instance cannot be reached.
   */
  metrics(id: string, query: MetricsQuery): Promise<Series>;
  /**
   * Gauges of an instance at this moment; empty for an instance that has none.
   * @throws PublicError when the driver or the instance cannot be reached.
   */
  figures(id: string, signal?: AbortSignal): Promise<Figures>;
  /**
   * The disk usage of instances, as measured last.
   * @param cursor of an earlier reading, for only the changes since; everything when left out or no longer known.
   * @throws PublicError when the driver cannot be reached.
   */
  storage(cursor?: string): Promise<StorageReading>;
  /**
   * What was measured of instances in each minute, the oldest minute first, at most some dozens of minutes at a time.
   * @param cursor of an earlier answer, all of whose batches were taken; everything that waits when left out or no
   *   longer known, so a batch may come again.
   * @throws PublicError when the driver cannot be reached.
   */
  readings(cursor?: string): Promise<ReadingsAnswer>;
  /**
   * The free ports of these, at the address where the driver's instances would listen.
   * @throws PublicError when the driver cannot be reached.
   */
  freePorts(ports: number[], signal?: AbortSignal): Promise<number[]>;
  /**
   * Returns what happened to instances after a record, the oldest first: as soon as there is something, or nothing
   * after some seconds.
   * @param after the sequence of the last record that was taken, which the driver then need not keep; 0 for all.
   * @throws PublicError when the driver cannot be reached.
   */
  journal(after: number, signal: AbortSignal): Promise<JournalRecord[]>;
  /**
   * Calls back with every instance's observation first, then with `synced`, then with every change as it happens. It may
   * repeat an observation. Reconnects by itself, and then begins anew, until the signal is aborted.
   */
  watch(events: WatchEvents, signal: AbortSignal): void;
}

/** What a watch calls. */
export interface WatchEvents {
  changed(observation: Observation): void;
  /** Every instance was observed; an instance that is not named is absent. */
  synced(ids: string[]): void;
}
