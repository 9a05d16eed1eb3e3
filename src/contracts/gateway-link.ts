// What the host and the gateway say to each other over the host's unix socket for gateways: one JSON object a line.
import * as z from "zod/mini";
import { wakeReasonSchema, wakeSchema } from "./sleep.ts";
import { instanceUserSchema } from "./users.ts";

const id = z.string().check(z.maxLength(64));
const question = z.exactOptional(z.int());

const protocolSchema = z.enum(["postgres", "mysql", "redis"]);

/** What clients of an instance speak. */
export type Protocol = z.infer<typeof protocolSchema>;

const entryStateSchema = z.enum(["running", "asleep", "starting", "draining", "failed"]);

/** How an instance is, as far as its clients are concerned. */
export type RouteState = z.infer<typeof entryStateSchema>;

const milliseconds = z.number().check(z.nonnegative());

export const entrySchema = z.strictObject({
  id,
  protocol: protocolSchema,
  /** Where the gateway listens for it. */
  address: z.string(),
  port: z.int(),
  /** The unix socket of its engine. */
  socket: z.string(),
  engine: z.strictObject({ name: z.string(), version: z.string() }),
  state: entryStateSchema,
  /** Why the last start failed, as a sentence that may be shown to anyone. */
  lastError: z.nullable(z.string()),
  /** All who may log in, as they were when the engine was asked last. */
  users: z.array(instanceUserSchema),
  /** How many clients may be logged in, or wait to be: what the engine takes, and for a database some who wait in line. */
  maxConnections: z.int(),
  /** Seconds without use after which it is to sleep; null is never. */
  sleepAfterSeconds: z.nullable(z.number()),
  /** How long the parts of its latest start took, in milliseconds: to a process, and from there to one that takes connections. */
  latestStart: z.nullable(z.strictObject({ startMs: milliseconds, readyMs: milliseconds })),
});

/** An instance that the gateway is the address of. */
export type Route = z.infer<typeof entrySchema>;

export const hostMessageSchema = z.discriminatedUnion("type", [
  /** The ids of all instances behind the gateway; an instance that is not named is not behind it any more. The first message of a link. */
  z.strictObject({ type: z.literal("entries"), ids: z.array(id) }),
  /** Follows the entries of those instances, each of which is a message of its own. */
  z.strictObject({ type: z.literal("synced") }),
  z.strictObject({
    type: z.literal("entry"),
    entry: entrySchema,
    /** Whether it is the answer to `users`. */
    isAnswer: z.exactOptional(z.literal(true)),
  }),
  /** The gateway is to give up the address, and to answer `released` when it does not listen there any more. */
  z.strictObject({ type: z.literal("gone"), id }),
  /** Hold whoever comes, let what is under way come to its end; to be answered with `drained` or `busy` in this time. */
  z.strictObject({
    type: z.literal("drain"),
    id,
    withinMs: z.number(),
    /** Whether a client that has something to say meanwhile comes first; a `detach` that follows is then answered with `busy` too. */
    isYielding: z.exactOptional(z.boolean()),
    /** To be told with the answer, which may come so late that another question was asked meanwhile. */
    question,
  }),
  /** Part the clients of a drained instance from its engine, which is about to be stopped; to be answered with `detached`. */
  z.strictObject({ type: z.literal("detach"), id, question }),
]);

/** From the host to the gateway. */
export type HostMessage = z.infer<typeof hostMessageSchema>;

export const gatewayMessageSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("released"), id }),
  /** It has handed over the sockets that it listens at, and is to be handed those of all instances behind it. */
  z.strictObject({ type: z.literal("holding") }),
  z.strictObject({ type: z.enum(["drained", "busy", "detached"]), id, question }),
  /** Somebody who proved who it is waits for the engine. */
  z.strictObject({ type: z.literal("wake"), id, reason: wakeReasonSchema }),
  z.strictObject({ type: z.literal("woken"), id, wake: wakeSchema }),
  /** No client has used it for as long as `sleepAfterSeconds` says. It is told again from time to time while that is so. */
  z.strictObject({ type: z.literal("quiet"), id }),
  /** The users it knows may be out of date; to be answered with an `entry`. */
  z.strictObject({ type: z.literal("users"), id }),
]);

/** From the gateway to the host. */
export type GatewayMessage = z.infer<typeof gatewayMessageSchema>;
