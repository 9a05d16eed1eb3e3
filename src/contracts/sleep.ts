// The sleep of an instance: its present state, its latest wake, and the record that the host keeps.
import * as z from "zod/mini";
import { instanceUserSchema } from "./users.ts";

/** Long enough for the names of any engine and of any client. */
const name = z.string().check(z.maxLength(1_024));

const milliseconds = z.number().check(z.nonnegative());

const sleepStateSchema = z.enum(["awake", "asleep", "waking", "draining"]);

/** `waking`: no longer asleep and not ready yet. `draining`: what is under way ends before the instance sleeps. */
export type SleepState = z.infer<typeof sleepStateSchema>;

export const wakeReasonSchema = z.strictObject({
  user: name,
  database: z.exactOptional(name),
  application: z.exactOptional(name),
  /** Address and port of the client; empty where no client came. */
  address: name,
});

/**
 * The client that woke an instance. Facts that the client did not send, or that its protocol does not know, are left
 * out.
 */
export type WakeReason = z.infer<typeof wakeReasonSchema>;

export const wakeSpansSchema = z.strictObject({
  /** From the connection to the first whole message, TLS included. */
  accept: milliseconds,
  /** Until the client had proved its identity. */
  auth: milliseconds,
  /** Until the host had a process. */
  start: milliseconds,
  /** Until the engine took connections. */
  ready: milliseconds,
  /** Until the client was logged in to the engine. */
  login: milliseconds,
});

/** How long the parts of a wake took for the client that caused it, in milliseconds. */
export type WakeSpans = z.infer<typeof wakeSpansSchema>;

export const wakeSchema = z.strictObject({
  /** When the client connected, ISO 8601. */
  at: z.iso.datetime(),
  reason: wakeReasonSchema,
  spansMs: wakeSpansSchema,
});

/** A wake that is complete. */
export type Wake = z.infer<typeof wakeSchema>;

export const sleepSchema = z.strictObject({
  state: sleepStateSchema,
  /** When the state was reached, ISO 8601. */
  since: z.string(),
  /** Null until the first wake. */
  lastWake: z.nullable(wakeSchema),
  /** How often the instance was woken. */
  wakes: z.int(),
});

/** The sleep of an instance as a driver sees it. */
export type Sleep = z.infer<typeof sleepSchema>;

export const sleepRecordSchema = z.strictObject({
  /** When the instance fell asleep or was woken, ISO 8601. */
  since: z.string(),
  /** All users that may log in, as the engine reported them when it fell asleep; null when it never did. */
  users: z.nullable(z.array(instanceUserSchema)),
  /** How many more users there were than the host keeps. */
  usersLeftOut: z.int(),
  lastWake: z.nullable(wakeSchema),
  wakes: z.int(),
});

/** What the host keeps of an instance's sleep. */
export type SleepRecord = z.infer<typeof sleepRecordSchema>;

/** The record of an instance that never slept. */
export function neverAsleep(): SleepRecord {
  return {
    since: new Date().toISOString(),
    users: null,
    usersLeftOut: 0,
    lastWake: null,
    wakes: 0,
  };
}
