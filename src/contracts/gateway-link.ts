// The messages between the host and the gateway over the host's unix socket for gateways: one JSON object a line.
import * as z from "zod/mini";
import { MAX_QUERIES } from "./queries.ts";
import { wakeReasonSchema, wakeSchema } from "./sleep.ts";
import { instanceUserSchema } from "./users.ts";

const id = z.string().check(z.maxLength(64));
const question = z.exactOptional(z.int());

/** Longer than any IP address, even with the name of a network interface. */
const MAX_ADDRESS_CHARACTERS = 64;

const protocolSchema = z.enum(["postgres", "mysql", "redis"]);

/** The protocol of an instance's clients. */
export type Protocol = z.infer<typeof protocolSchema>;

const entryStateSchema = z.enum(["running", "asleep", "starting", "draining", "failed"]);

/** The state of an instance as far as its clients are concerned. */
export type RouteState = z.infer<typeof entryStateSchema>;

const milliseconds = z.number().check(z.nonnegative());

const entrySchema = z.strictObject({
  id,
  protocol: protocolSchema,
  /** Where the gateway listens for the instance. */
  address: z.string(),
  port: z.int(),
  /** The unix socket of its engine. */
  socket: z.string(),
  engine: z.strictObject({ name: z.string(), version: z.string() }),
  state: entryStateSchema,
  /** Why the last start failed, as a sentence that may be shown to anyone. */
  lastError: z.nullable(z.string()),
  /** All users that may log in, as of the latest question to the engine. */
  users: z.array(instanceUserSchema),
  /**
   * The secret from which the engine makes the salts of users that it does not know, in hexadecimal digits; null for an
   * engine without salts, and where it is not known.
   */
  mockNonce: z.nullable(z.string().check(z.regex(/^[0-9a-f]{64}$/))),
  /**
   * How many clients may be logged in or wait for it: the engine's limit, and for a database some more that wait for its
   * start.
   */
  maxConnections: z.int(),
  /** Idle seconds after which the instance is to sleep; null is never. */
  sleepAfterSeconds: z.nullable(z.number()),
  /**
   * How long the parts of the latest start took, in milliseconds: until there was a process, and from there until it
   * took connections.
   */
  latestStart: z.nullable(z.strictObject({ startMs: milliseconds, readyMs: milliseconds })),
});

/** An instance whose clients arrive at the gateway. */
export type Route = z.infer<typeof entrySchema>;

export const hostMessageSchema = z.discriminatedUnion("type", [
  /**
   * The ids of all instances behind the gateway; an instance that is not named is no longer behind it. The first
   * message of a link.
   */
  z.strictObject({ type: z.literal("entries"), ids: z.array(id) }),
  /** Follows the entries of these instances, each of which is a message of its own. */
  z.strictObject({ type: z.literal("synced") }),
  z.strictObject({
    type: z.literal("entry"),
    entry: entrySchema,
    /** The question of the latest `users` that it answers, whose answer may be late; left out when it answers none. */
    question,
  }),
  /** The gateway must give up the address, and answer `released` when it no longer listens there. */
  z.strictObject({ type: z.literal("gone"), id }),
  /** Hold new clients and let what is under way end; the gateway answers `drained` or `busy` in this time. */
  z.strictObject({
    type: z.literal("drain"),
    id,
    withinMs: z.number(),
    /**
     * Whether a client that sends something meanwhile comes first; a `detach` that follows is then answered with `busy`
     * too.
     */
    isYielding: z.exactOptional(z.boolean()),
    /** Comes back with the answer, which may be so late that the host has asked another question meanwhile. */
    question,
  }),
  /**
   * Disconnect the clients of a drained instance from its engine, which is about to be stopped; the gateway answers
   * `detached`.
   */
  z.strictObject({ type: z.literal("detach"), id, question }),
  /** Whose are these sessions, by the engine's numbers? The gateway answers `addresses`. */
  z.strictObject({
    type: z.literal("addresses"),
    id,
    sessions: z.array(z.int()).check(z.maxLength(MAX_QUERIES)),
    question: z.int(),
  }),
]);

/** From the host to the gateway. */
export type HostMessage = z.infer<typeof hostMessageSchema>;

export const gatewayMessageSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("released"), id }),
  /** The gateway has handed over its listening sockets, and needs those of all instances behind it. */
  z.strictObject({ type: z.literal("holding") }),
  z.strictObject({ type: z.enum(["drained", "busy", "detached"]), id, question }),
  /** A client that proved its identity waits for the engine. */
  z.strictObject({ type: z.literal("wake"), id, reason: wakeReasonSchema }),
  z.strictObject({ type: z.literal("woken"), id, wake: wakeSchema }),
  /**
   * No client has used the instance for `sleepAfterSeconds`. The gateway repeats this from time to time while it is so.
   */
  z.strictObject({ type: z.literal("idle"), id }),
  /** How many clients of instances have logged in; an instance that is not named has as many as before. */
  z.strictObject({
    type: z.literal("clients"),
    counts: z.record(id, z.int().check(z.nonnegative())),
  }),
  /** The gateway's users may be out of date; the host answers with an `entry`. */
  z.strictObject({ type: z.literal("users"), id, question: z.int() }),
  /** The IP address of each session's client, in the order of the question; null where the gateway knows none. */
  z.strictObject({
    type: z.literal("addresses"),
    id,
    question: z.int(),
    addresses: z
      .array(z.nullable(z.string().check(z.maxLength(MAX_ADDRESS_CHARACTERS))))
      .check(z.maxLength(MAX_QUERIES)),
  }),
]);

/** From the gateway to the host. */
export type GatewayMessage = z.infer<typeof gatewayMessageSchema>;
