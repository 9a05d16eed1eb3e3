// What the host and the gateway say to each other over the host's unix socket for gateways: one JSON object a line.

/** What clients of an instance speak. */
export type Protocol = "postgres" | "mysql" | "redis";

/** How an instance is, as far as its clients are concerned. */
export type EntryState = "running" | "asleep" | "starting" | "draining" | "failed";

/** Somebody who may log in, with what verifies the password, in the form that the engine itself keeps. */
export interface EntryUser {
  name: string;
  /**
   * `SCRAM-SHA-256$...` of Postgres; `*` and SHA-1 of SHA-1 in upper-case hexadecimal of MySQL; SHA-256 in lower-case
   * hexadecimal of a cache.
   */
  verifier: string;
}

/** An instance that the gateway is the address of. */
export interface Entry {
  id: string;
  protocol: Protocol;
  /** Where the gateway listens for it. */
  address: string;
  port: number;
  /** The unix socket of its engine. */
  socket: string;
  engine: { name: string; version: string };
  state: EntryState;
  /** Why the last start failed, as a sentence that may be shown to anyone. */
  lastError: string | null;
  /** All who may log in, as they were when the engine was asked last. */
  users: EntryUser[];
  /** How many clients may be logged in, or wait to be: what the engine takes, and for a database some who wait in line. */
  maxConnections: number;
  /** Seconds without use after which it is to sleep; null is never. */
  sleepAfterSeconds: number | null;
  /** How long the parts of its latest start took, in milliseconds: to a process, and from there to one that takes connections. */
  latestStart: { startMs: number; readyMs: number } | null;
}

/** Who woke an instance. What a client did not tell, or its protocol does not know, is left out. */
export interface WakeReason {
  user: string;
  database?: string;
  application?: string;
  /** Address and port of the client. */
  address: string;
}

/** How long the parts of a wake took, in milliseconds, for the client that caused it. */
export interface WakeSpans {
  /** From the connection to the first whole message, TLS included. */
  accept: number;
  /** Until the client had proved who it is. */
  auth: number;
  /** Until the host had a process. */
  start: number;
  /** Until the engine took connections. */
  ready: number;
  /** Until the client was logged in there. */
  login: number;
}

/** A wake that came to its end. */
export interface Wake {
  /** When the client connected, ISO 8601. */
  at: string;
  reason: WakeReason;
  spansMs: WakeSpans;
}

/** From the host to the gateway. */
export type HostMessage =
  /** The ids of all instances behind the gateway; an instance that is not named is not behind it any more. The first message of a link. */
  | { type: "entries"; ids: string[] }
  /** Follows the entries of those instances, each of which is a message of its own. */
  | { type: "synced" }
  | {
      type: "entry";
      entry: Entry;
      /** Whether it is the answer to `users`. */
      isAnswer?: true;
    }
  /** The gateway is to give up the address, and to answer `released` when it does not listen there any more. */
  | { type: "gone"; id: string }
  /** Hold whoever comes, let what is under way come to its end; to be answered with `drained` or `busy` in this time. */
  | {
      type: "drain";
      id: string;
      withinMs: number;
      /** Whether a client that has something to say meanwhile comes first; a `detach` that follows is then answered with `busy` too. */
      isYielding?: boolean;
      /** To be told with the answer, which may come so late that another question was asked meanwhile. */
      question?: number;
    }
  /** Part the clients of a drained instance from its engine, which is about to be stopped; to be answered with `detached`. */
  | { type: "detach"; id: string; question?: number };

/** From the gateway to the host. */
export type GatewayMessage =
  | { type: "released"; id: string }
  /** It has handed over the sockets that it listens at, and is to be handed those of all instances behind it. */
  | { type: "holding" }
  | { type: "drained" | "busy" | "detached"; id: string; question?: number }
  /** Somebody who proved who it is waits for the engine. */
  | { type: "wake"; id: string; reason: WakeReason }
  | { type: "woken"; id: string; wake: Wake }
  /** No client has used it for as long as `sleepAfterSeconds` says. It is told again from time to time while that is so. */
  | { type: "quiet"; id: string }
  /** The users it knows may be out of date; to be answered with an `entry`. */
  | { type: "users"; id: string };
