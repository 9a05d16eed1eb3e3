// The readings of instances: what a host measured of each instance in a minute, until the control plane has taken it.
import * as z from "zod/mini";

/** Answers to requests, by the first digit of their status; a WebSocket that was opened is among the first. */
export const answerNames = ["responses2xx", "responses3xx", "responses4xx", "responses5xx"] as const;

/** Timed answers by the time until they began: each counter with its longest time in milliseconds. */
export const answerTimes = {
  responsesIn2ms: 2,
  responsesIn5ms: 5,
  responsesIn10ms: 10,
  responsesIn20ms: 20,
  responsesIn50ms: 50,
  responsesIn100ms: 100,
  responsesIn200ms: 200,
  responsesIn500ms: 500,
  responsesIn1s: 1_000,
  responsesIn2s: 2_000,
  responsesIn5s: 5_000,
  responsesIn10s: 10_000,
  responsesIn30s: 30_000,
  responsesLater: Number.POSITIVE_INFINITY,
} as const;

type AnswerTimeName = keyof typeof answerTimes;
export const answerTimeNames = Object.keys(answerTimes) as AnswerTimeName[];

/** What is counted; a reading has the increase in its minute. */
export const counterNames = [
  "commits",
  "rollbacks",
  "rowsWritten",
  "blocksHit",
  "blocksRead",
  "deadlocks",
  "walBytes",
  "hits",
  "misses",
  "evictedKeys",
  "expiredKeys",
  "commands",
  "networkInBytes",
  "networkOutBytes",
  "messagesReceived",
  "messagesSent",
  "apiRequests",
  "webhooksDelivered",
  "webhooksFailed",
  "webhooksDropped",
  ...answerNames,
  ...answerTimeNames,
  /** The times of all timed answers together, in milliseconds. */
  "responseMs",
] as const;

/** What an engine has at a moment; a reading has the value at the end of its minute. */
export const gaugeNames = [
  "connections",
  "activeConnections",
  "idleConnections",
  "idleInTransactionConnections",
  "blockedConnections",
  "keys",
  "dataBytes",
  "gatewayConnections",
] as const;

export type CounterName = (typeof counterNames)[number];
export type GaugeName = (typeof gaugeNames)[number];

/** The most batches of an answer. A control plane that was away takes them in several answers. */
export const MAX_BATCHES = 60;

const amount = z.exactOptional(z.number().check(z.nonnegative()));
const each = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, amount])) as Record<Name, typeof amount>;

export const readingSchema = z.strictObject({
  /** The id of the instance, of a part of it, such as an application, or of a route of the edge. */
  id: z.string().check(z.maxLength(64)),
  /** How long the engine had a process, in milliseconds. */
  awakeMs: z.number().check(z.nonnegative()),
  /** The time awake multiplied by the processors of the instance's size. */
  computeMs: z.number().check(z.nonnegative()),
  /** Processor time of all processes of the instance, in milliseconds. */
  cpuMs: z.number().check(z.nonnegative()),
  /** The mean over the minute. Zero while the engine has no process, without file contents that the kernel may drop. */
  memoryBytes: z.number().check(z.nonnegative()),
  /** The disk use as it was measured last; absent before the first measurement. */
  storageBytes: amount,
  /** How far a replica is behind its primary at the end of the minute; absent while that is not known. */
  replicaLagSeconds: amount,
  /** How often the instance was woken. */
  wakes: z.number().check(z.nonnegative()),
  /** Figures of the engine; absent where the engine has no such figure or did not answer. */
  ...each(counterNames),
  ...each(gaugeNames),
});

/** What was measured of an instance in a minute. */
export type Reading = z.infer<typeof readingSchema>;

const countersSchema = z.record(z.string(), z.number());

/** The counters of each instance as a host has read them last, in a file for the next host. */
export const countedInstancesSchema = z.record(
  z.string(),
  z.strictObject({
    /** The process that was read. */
    pid: z.int(),
    /** Whether the counters begin with each process. */
    isPerProcess: z.boolean(),
    counters: countersSchema,
    /** The counters of the instance's parts by their ids. */
    parts: z.record(z.string(), countersSchema),
  }),
);

export type CountedInstance = z.infer<typeof countedInstancesSchema>[string];

/** The answers of each route of the edge as a host has read them last, in a file for the next host. */
export const countedRoutesSchema = z.record(
  z.string(),
  z.strictObject({
    /** When the edge began to count, in seconds since 1970. It counts from zero once it has forgotten the route. */
    since: z.int(),
    /** In the order of `answerNames`. */
    answers: z.array(z.int().check(z.nonnegative())).check(z.length(answerNames.length)),
  }),
);

export type CountedRoute = z.infer<typeof countedRoutesSchema>[string];

export const readingBatchSchema = z.strictObject({
  /** The beginning of the minute, by the clock of the host. */
  at: z.iso.datetime(),
  /**
   * The instances that had a process in this minute, and those whose clients stay at the gateway while they sleep; other
   * instances took no processor and no memory, and had no clients.
   */
  readings: z.array(readingSchema),
});

/** The readings of a minute. A minute without a batch was not measured. */
export type ReadingBatch = z.infer<typeof readingBatchSchema>;

export const readingsAnswerSchema = z.strictObject({
  version: z.literal(1),
  /** Names the last batch of this answer; a question with it says that all batches up to it were taken. */
  cursor: z.string(),
  /** The oldest first. */
  batches: z.array(readingBatchSchema),
});

/** The batches after a cursor. */
export type ReadingsAnswer = z.infer<typeof readingsAnswerSchema>;
