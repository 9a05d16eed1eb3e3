// The sleep of an instance: how it is now, who woke it last, and what the host keeps of it.
import * as z from "zod/mini";
import { instanceUserSchema } from "./users.ts";

/** As long as names of any engine, and of any client, need to be. */
const name = z.string().check(z.maxLength(1_024));

const milliseconds = z.number().check(z.nonnegative());

const sleepStateSchema = z.enum(["awake", "asleep", "waking", "draining"]);

/** `waking` is asleep no more and not ready yet; `draining` lets what is under way come to its end before it sleeps. */
export type SleepState = z.infer<typeof sleepStateSchema>;

export const wakeReasonSchema = z.strictObject({
  user: name,
  database: z.exactOptional(name),
  application: z.exactOptional(name),
  /** Address and port of the client; empty where no client came. */
  address: name,
});

/** Who woke an instance. What a client did not tell, or its protocol does not know, is left out. */
export type WakeReason = z.infer<typeof wakeReasonSchema>;

const wakeSpansSchema = z.strictObject({
  /** From the connection to the first whole message, TLS included. */
  accept: milliseconds,
  /** Until the client had proved who it is. */
  auth: milliseconds,
  /** Until the host had a process. */
  start: milliseconds,
  /** Until the engine took connections. */
  ready: milliseconds,
  /** Until the client was logged in there. */
  login: milliseconds,
});

/** How long the parts of a wake took, in milliseconds, for the client that caused it. */
export type WakeSpans = z.infer<typeof wakeSpansSchema>;

export const wakeSchema = z.strictObject({
  /** When the client connected, ISO 8601. */
  at: z.iso.datetime(),
  reason: wakeReasonSchema,
  spansMs: wakeSpansSchema,
});

/** A wake that came to its end. */
export type Wake = z.infer<typeof wakeSchema>;

export const sleepSchema = z.strictObject({
  state: sleepStateSchema,
  /** When the state was reached, ISO 8601. */
  since: z.string(),
  /** Null as long as nobody has woken it. */
  lastWake: z.nullable(wakeSchema),
  /** How often it was woken. */
  wakes: z.int(),
});

/** How an instance sleeps. */
export type Sleep = z.infer<typeof sleepSchema>;

export const sleepRecordSchema = z.strictObject({
  /** Sleeping, it is started by nobody but a client, or by a wish that needs its engine. */
  isAsleep: z.boolean(),
  /** When it fell asleep or was woken, ISO 8601. */
  since: z.string(),
  /** All who may log in, as the engine said when it fell asleep; null when it never did. */
  users: z.nullable(z.array(instanceUserSchema)),
  /** How many more there were than are kept. */
  usersLeftOut: z.int(),
  lastWake: z.nullable(wakeSchema),
  wakes: z.int(),
});

/** What the host keeps of an instance's sleep. */
export type SleepRecord = z.infer<typeof sleepRecordSchema>;

/** That of an instance that never slept. */
export function neverAsleep(): SleepRecord {
  return {
    isAsleep: false,
    since: new Date().toISOString(),
    users: null,
    usersLeftOut: 0,
    lastWake: null,
    wakes: 0,
  };
}
