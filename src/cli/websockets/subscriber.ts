// A connection to a cluster that subscribes to one channel, with the protocol of Pusher's clients.
import { CommandError } from "../failure.ts";
import { message, messagesToSubscribe } from "./channels.ts";
import { dataMembers, readFrame, type Frame } from "./frames.ts";
import type { Credentials } from "./signatures.ts";

/** The address, the credentials and the channel of a connection. */
export interface Subscription {
  /** Such as `ws://127.0.0.1:20002`. */
  url: string;
  credentials: Credentials;
  channel: string;
  /** The user's id on a presence channel. */
  userId: string;
  /** The page that browsers would name; undefined when the application does not demand an origin. */
  origin: string | undefined;
}

/** The events while a connection lasts. */
export interface SubscriptionListener {
  /** @param members the users on a presence channel; undefined on any other. */
  subscribed(members: string[] | undefined): void;
  received(frame: Frame): void;
  /** The cluster reported an error, and the connection stays. */
  complaint(text: string): void;
}

/** The end of a connection. */
export interface Closing {
  code: number;
  /** Empty when the cluster gave no reason. */
  reason: string;
  /** Whether the cluster had let the connection in before. */
  wasConnected: boolean;
}

const PROTOCOL = "protocol=7&client=pilvi&version=1.0&flash=false";

/** The code for an end without a close frame. */
const ABNORMAL = 1006;

/** The time that a cluster has to answer a close frame. */
const GOODBYE_MS = 500;

/** A connection from its beginning to its end. */
export class Subscriber {
  readonly #subscription: Subscription;
  readonly #listener: SubscriptionListener;
  readonly #socket: WebSocket;
  readonly #end = Promise.withResolvers<Closing>();
  /** The messages to send, one after the other, until the channel is subscribed. */
  #toSend: string[] = [];
  #activityMs: number;
  readonly #answerMs: number;
  #timer: ReturnType<typeof setTimeout>;
  #wasConnected = false;
  #lastError: Omit<Closing, "wasConnected"> | undefined;

  /** @param answerMs how long the cluster may take to let a client in, and to answer a ping. */
  constructor(subscription: Subscription, listener: SubscriptionListener, answerMs = 30_000) {
    const { url, credentials, origin } = subscription;
    this.#subscription = subscription;
    this.#listener = listener;
    this.#answerMs = answerMs;
    this.#activityMs = answerMs;
    const headers = origin === undefined ? {} : { Origin: origin };
    this.#socket = new WebSocket(`${url}/app/${credentials.key}?${PROTOCOL}`, { headers });
    this.#timer = setTimeout(() => this.#socket.terminate(), answerMs);
    this.#socket.addEventListener("message", ({ data }) => this.#receive(String(data)));
    this.#socket.addEventListener("close", ({ code, reason }) => this.#closed({ code, reason }));
    this.#socket.addEventListener("error", (event) => this.#failed(event));
  }

  /** Resolves when the connection is closed. @throws CommandError when the cluster refuses the channel. */
  get ended(): Promise<Closing> {
    return this.#end.promise;
  }

  /** Closes the connection with a close frame. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#socket.terminate(), GOODBYE_MS);
    this.#socket.close(1000);
  }

  #receive(text: string): void {
    const frame = readFrame(text);
    if (frame === undefined || this.#socket.readyState !== WebSocket.OPEN) return;
    this.#restartTimer();
    switch (frame.event) {
      case "pusher:connection_established":
        return this.#connected(frame);
      case "pusher:ping":
        return this.#socket.send(message("pusher:pong", {}));
      case "pusher:pong":
        return;
      case "pusher:signin_success":
        return this.#sendNext();
      case "pusher:error":
        return this.#complained(frame);
      case "pusher:subscription_error":
        return this.#refused(frame);
      case "pusher_internal:subscription_succeeded":
        return this.#listener.subscribed(membersIn(frame));
      default:
        if (frame.channel === this.#subscription.channel) this.#listener.received(frame);
    }
  }

  #connected(frame: Frame): void {
    const { socket_id: socketId, activity_timeout: seconds } = dataMembers(frame);
    this.#wasConnected = true;
    if (typeof seconds === "number" && seconds > 0) this.#activityMs = seconds * 1000;
    this.#restartTimer();
    this.#toSend = messagesToSubscribe(this.#subscription.channel, String(socketId), this.#subscription);
    this.#sendNext();
  }

  #sendNext(): void {
    const next = this.#toSend.shift();
    if (next !== undefined) this.#socket.send(next);
  }

  #complained(frame: Frame): void {
    const { code, message: text } = dataMembers(frame);
    // The code of a close frame comes first with this event; the close frame may lack its text.
    if (typeof code === "number") this.#lastError = { code, reason: String(text) };
    else this.#listener.complaint(String(text));
  }

  #refused(frame: Frame): void {
    const { error } = dataMembers(frame);
    const { channel } = this.#subscription;
    this.#end.reject(new CommandError(`The cluster refuses the channel ${channel}: ${String(error)}`));
    this.close();
  }

  /** Only this event says why a connection could not be made; the close event follows. */
  #failed(event: Event): void {
    if (this.#wasConnected || !("message" in event)) return;
    this.#lastError = { code: ABNORMAL, reason: String(event.message).replace(/^.* failed: /, "") };
  }

  #closed({ code, reason }: Omit<Closing, "wasConnected">): void {
    clearTimeout(this.#timer);
    const last = this.#lastError;
    const closing = last !== undefined && (last.code === code || code < 4000) ? last : { code, reason };
    this.#end.resolve({ ...closing, wasConnected: this.#wasConnected });
  }

  /** After silence the cluster gets a ping; without an answer the connection is given up. */
  #restartTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#socket.send(message("pusher:ping", {}));
      this.#timer = setTimeout(() => this.#socket.terminate(), this.#answerMs);
    }, this.#activityMs);
  }
}

function membersIn(frame: Frame): string[] | undefined {
  const { presence } = dataMembers(frame);
  if (typeof presence !== "object" || presence === null || !("ids" in presence)) return undefined;
  return Array.isArray(presence.ids) ? presence.ids.map(String) : undefined;
}
