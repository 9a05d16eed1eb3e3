// The interface through which a protocol handler sees the instance of its clients.
import type { Route } from "../contracts/gateway-link.ts";
import type { WakeReason } from "../contracts/sleep.ts";
import type { ClientStream, Stream } from "./stream.ts";

/** How long a client is held for its engine. A recovery may take minutes; most clients give up earlier. */
export const HOLD_MS = 5 * 60_000;

/** Thrown when no engine is ready in time; the message may be shown to the client. */
export class EngineUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = "EngineUnavailable";
  }
}

/** Thrown when an instance already has its maximum of clients. */
export class TooManyClients extends Error {
  constructor() {
    super("the instance has as many clients as it may");
    this.name = "TooManyClients";
  }
}

/** Follows the messages of a client, so that a disconnect never cuts a message or a transaction. */
export interface MessageFramer {
  /**
   * Takes the next bytes of the client, before the engine gets them.
   * @param bytes the first `length` bytes count; the framer may change them in place.
   * @returns whether they contain a message that counts as use of the instance.
   */
  walk(bytes: Uint8Array, length: number): boolean;
  /**
   * What has to be found out before these bytes of the client are walked, such as a user that is not known yet; null when
   * nothing has. The promise is never rejected.
   */
  question?(bytes: Uint8Array, length: number): Promise<void> | null;
  /** Whether the client's last message is whole, and the connection to the engine holds no state that would be lost. */
  readonly isBetweenMessages: boolean;
  /** Takes the next bytes of the engine, the first `length`, for a framer that learns open state from them. */
  observe?(bytes: Uint8Array, length: number): void;
  /** Whether the engine has answered every message; only a framer with `observe` knows. */
  readonly isAnswered?: boolean;
}

/** How a splice ended: a side closed, or the gateway disconnected the client because its engine goes to sleep. */
export type SpliceEnd = "closed" | "detached";

/**
 * What a client before its login may have of the engine, since each of its connections takes the place of a customer's:
 * a connection for its login, which is kept until the client has proved its password; in a crowd of such clients a
 * connection for one question, which ends with the engine's answer; or nothing.
 */
export type EngineRoom = "login" | "question" | "none";

/** An instance as the gateway knows it. */
export interface Instance {
  /** The route, as the host sent it last. */
  readonly entry: Route;
  /** Brings the users of `entry` up to date. Frequent calls resolve with the users that are known. */
  refreshUsers(): Promise<void>;
}

/**
 * One instance, as the protocol handlers of its clients see it. `Client` and `Engine` are the backend's own classes: a
 * handler returns the streams that it got, without knowing their class.
 */
export interface Backend<Client extends ClientStream, Engine extends Stream> extends Instance {
  /**
   * Waits while the engine starts, drains or recovers, without waking it.
   * @throws EngineUnavailable when that takes too long or the start fails; StreamEnded when the client goes away.
   */
  settled(client: Client): Promise<"running" | "asleep">;
  /**
   * Connects a logged-in client to the engine, and wakes the engine when it sleeps. The connection counts as use, and
   * every drain of the instance waits for this client.
   * @param reason the client, as the wake reason names it.
   * @param begun the connection of `connectIfRunning` for this client; it is returned while the engine runs on. The
   *   caller ends it when another connection is returned.
   * @throws EngineUnavailable as `settled`; StreamEnded when the client goes away.
   */
  connect(client: Client, reason: WakeReason, begun?: Engine): Promise<Engine>;
  /** The clients that stay connected without the engine. */
  readonly parked: {
    /**
     * Ends the client when the users change and its login is no longer right.
     * @param isOver whether that is so.
     * @returns leaves the client alone from then on.
     */
    add(client: Client, isOver: () => boolean): () => void;
  };
  /** What the next client before its login may have of the engine. */
  readonly room: EngineRoom;
  /**
   * A connection to the engine if it runs at this moment, else null. Wakes nothing and waits for nothing.
   * @param options.evenDraining for what lets a drain come to its end sooner.
   */
  connectIfRunning(options?: { evenDraining?: boolean }): Promise<Engine | null>;
  /**
   * Waits before the next attempt at an engine that runs but is not ready, as after a crash of one of its sessions.
   * @throws StreamEnded when the client goes away.
   */
  pause(client: Client, ms: number): Promise<void>;
  /**
   * Records that the client can use the engine from now on; ends the spans of a wake that the client caused.
   * @param session the engine's number for the client's session, where the engine has numbers.
   */
  loggedIn(client: Client, session?: number): void;
  /**
   * Passes bytes on in both directions until it resolves. After `closed` both streams have ended. After `detached` both
   * can be read and written again, and the caller ends the engine's stream soon: the stop of the engine waits for it.
   * @param framer left out where every byte counts as use and every position may be the end of a message.
   */
  splice(client: Client, engine: Engine, framer?: MessageFramer): Promise<SpliceEnd>;
}

/** Serves one client of a protocol, from its first byte to its last. */
export type ProtocolHandler = <Client extends ClientStream, Engine extends Stream>(
  client: Client,
  backend: Backend<Client, Engine>,
) => Promise<void>;

/**
 * Waits for the engine without the client's deadline: the deadline bounds a slow client, not an engine that a thousand
 * clients ask at once.
 * @param deadlineMs the client's deadline for its next message after the wait.
 * @throws the errors of `wait`.
 */
export async function held<T>(client: ClientStream, deadlineMs: number, wait: () => Promise<T>): Promise<T> {
  // The wait has its own limit, which is shorter.
  client.setDeadline(2 * HOLD_MS);
  const result = await wait();
  client.setDeadline(deadlineMs);
  return result;
}
