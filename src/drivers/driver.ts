// What a driver is asked for and what it tells: instances as data, with no word of how they are run.
import type { Figures, Offer, Series, StorageReading } from "../contracts/host-answers.ts";
import type { InstanceSpec } from "../contracts/instance-spec.ts";
import type { Observation } from "../contracts/observation.ts";

export type { EngineName, ForeignEngine } from "../contracts/engine-names.ts";
export type { Figures, Offer, OfferedEngine, Series, StorageReading } from "../contracts/host-answers.ts";
export type {
  CacheSpec,
  DatabaseWish,
  EvictionPolicy,
  Exposure,
  InstanceSpec,
  MysqlSpec,
  PostgresSpec,
  RealtimeSpec,
} from "../contracts/instance-spec.ts";
export type { Limits, Observation, ObservedEngine } from "../contracts/observation.ts";
export type { Sleep, SleepState, Wake, WakeReason } from "../contracts/sleep.ts";
export type { InstanceUser } from "../contracts/users.ts";
export type {
  Webhook as RealtimeWebhook,
  WebhookEventType as RealtimeEventType,
  WebSocketApplication as RealtimeApplication,
} from "../contracts/websocket-application.ts";

/** Which figures of an instance are wanted. */
export interface MetricsQuery {
  /** A part of the instance, such as an application; the whole instance when left out. */
  part?: string;
  /** How far back they go. */
  periodSeconds: number;
}

/** Runs instances somewhere: processes on this machine today, pods of a cluster later. */
export interface Driver {
  /** What new instances could get. */
  offer(): Promise<Offer>;
  /**
   * Makes the instance as the spec says and resolves when it runs or has failed to. Can be called again at any time.
   * @throws PublicError when the driver cannot be reached or refuses the spec.
   */
  ensure(spec: InstanceSpec, signal?: AbortSignal): Promise<Observation>;
  /**
   * Puts the instance to sleep without waiting for it to be unused, and resolves when it sleeps, or did already.
   * @throws PublicError when it cannot sleep now, with a sentence that says what keeps it awake; it then runs as before.
   */
  suspend(id: string, signal?: AbortSignal): Promise<Observation>;
  /** Stops the instance, deletes all that belongs to it, and resolves when nothing is left. Absent is fine. */
  remove(id: string): Promise<void>;
  /** Tells how the instance is now; an unknown id is `absent`. */
  observe(id: string): Promise<Observation>;
  /**
   * Tells figures of an instance over time; none for one that keeps none.
   * @throws PublicError when the driver or the instance cannot be reached.
   */
  metrics(id: string, query: MetricsQuery): Promise<Series>;
  /**
   * Tells the figures of an instance at this moment; none for one that has none.
   * @throws PublicError when the driver or the instance cannot be reached.
   */
  figures(id: string, signal?: AbortSignal): Promise<Figures>;
  /**
   * Tells what instances take on the disk, as it was measured last.
   * @param cursor of an earlier reading, to be told only what changed since; all when left out or no longer known.
   * @throws PublicError when the driver cannot be reached.
   */
  storage(cursor?: string): Promise<StorageReading>;
  /**
   * Which of these ports nothing listens on where the driver's instances would.
   * @throws PublicError when the driver cannot be reached.
   */
  freePorts(ports: number[], signal?: AbortSignal): Promise<number[]>;
  /**
   * Calls back with every instance's observation first, then with `synced`, then with every change as it happens.
   * Reconnects by itself, and begins anew when it does, until the signal is aborted.
   */
  watch(events: WatchEvents, signal: AbortSignal): void;
}

/** What a watch calls. */
export interface WatchEvents {
  changed(observation: Observation): void;
  /** All instances have been told; whatever was not named is absent. */
  synced(ids: string[]): void;
}
