// What a protocol handler knows of the instance behind it, and asks of it.
import type { Route, WakeReason } from "./link.ts";
import type { ClientStream, Stream } from "./stream.ts";

/** How long a client is held for its engine: a recovery may take minutes, and clients have limits of their own, mostly shorter ones. */
export const HOLD_MS = 5 * 60_000;

/** Thrown when an engine could not be had in time; the message may be shown to the client. */
export class EngineUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = "EngineUnavailable";
  }
}

/** Thrown when an instance has as many clients as it may. */
export class TooManyClients extends Error {
  constructor() {
    super("the instance has as many clients as it may");
    this.name = "TooManyClients";
  }
}

/** Follows what a client sends to the engine, so that it is never cut within a message or a transaction. */
export interface MessageFramer {
  /**
   * Takes the next bytes in, before the engine gets them.
   * @param bytes may be longer than what is to be read of it, and may be changed in place.
   * @returns whether there is something in them that counts as use of the instance.
   */
  walk(bytes: Uint8Array, length: number): boolean;
  /** Whether the last byte taken in was the last of a message, and nothing is open that would be lost with the connection to the engine. */
  readonly isBetweenMessages: boolean;
  /** Takes the next bytes of the engine in, for one that learns from them what is open; `bytes` may be longer than what is to be read of it. */
  hear?(bytes: Uint8Array, length: number): void;
  /** Whether the engine has answered all it was asked, for one that hears it. */
  readonly isAnswered?: boolean;
}

/** How the time after a login ended: a side closed, or the engine was parted from its client because it goes to sleep. */
export type SpliceEnd = "closed" | "detached";

/** What is known of an instance. */
export interface Instance {
  /** As the host told it last. */
  readonly entry: Route;
  /** Has the users of `entry` brought up to date. Asked often, it answers with what is known. */
  refreshUsers(): Promise<void>;
}

/**
 * One instance, as the protocol handlers of its clients see it. A handler gives back the streams that it was given, of whatever class they are: `Client`
 * and `Engine` are the backend's own.
 */
export interface Backend<Client extends ClientStream, Engine extends Stream> extends Instance {
  /**
   * Waits while the engine starts, drains or recovers, without waking it.
   * @throws EngineUnavailable when that takes too long or it cannot start; StreamEnded when the client has gone meanwhile.
   */
  settled(client: Client): Promise<"running" | "asleep">;
  /**
   * A connection to the engine, which is woken when it sleeps: for clients that have proved who they are. It counts as use. From here on no drain
   * of the instance passes this client over.
   * @param reason who it is for.
   * @param begun what `connectIfRunning` gave for this client; it is given back where the engine goes on running. The caller
   *   ends it when it gets another one.
   * @throws EngineUnavailable as `settled`; StreamEnded when the client has gone meanwhile.
   */
  connect(client: Client, reason: WakeReason, begun?: Engine): Promise<Engine>;
  /**
   * Whether so many who have yet to prove who they are have a connection to the engine that the next one is to do without:
   * each of them takes the place of a customer there.
   */
  readonly isCrowded: boolean;
  /** A connection to an engine that runs at this moment; null when none does. Wakes nothing and waits for nothing. */
  connectIfRunning(): Promise<Engine | null>;
  /**
   * Lets some time pass before an engine is asked again that is there but not ready, as after a crash of one of its sessions.
   * @throws StreamEnded when the client has gone meanwhile.
   */
  pause(client: Client, ms: number): Promise<void>;
  /** Notes that this client could use the engine from now on; ends the spans of a wake that it caused. */
  loggedIn(client: Client): void;
  /**
   * Passes bytes on in both directions from here on, until it resolves. When it ends with `closed`, both streams have ended.
   * With `detached` both can be read and written again, and the engine's is to be ended soon: the engine waits for that to stop.
   * @param framer left out where any byte counts as use and any place may be the end of a message.
   */
  splice(client: Client, engine: Engine, framer?: MessageFramer): Promise<SpliceEnd>;
}

/** Serves one client of a protocol, from its first byte to its last. */
export type ProtocolHandler = <Client extends ClientStream, Engine extends Stream>(
  client: Client,
  backend: Backend<Client, Engine>,
) => Promise<void>;

/**
 * Waits for the engine with the deadline of a client put off meanwhile: it is the client who has to hurry, not an engine that a
 * thousand of them ask at once.
 * @param deadlineMs what the client has afterwards for what it says next.
 * @throws whatever the wait does.
 */
export async function held<T>(client: ClientStream, deadlineMs: number, wait: () => Promise<T>): Promise<T> {
  // The wait has limits of its own, which are to end it first.
  client.setDeadline(2 * HOLD_MS);
  const result = await wait();
  client.setDeadline(deadlineMs);
  return result;
}
