// The host's unix socket for the gateway: tells it of the instances behind it, and asks it to part their clients from them.
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { UnixSocketListener } from "bun";
import { VersionMismatch } from "../../contracts/versions.ts";
import type { Route, GatewayMessage, HostMessage, Wake, WakeReason } from "../../gateway/link.ts";
import type { Log } from "../../lib/log.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import { canSwitchUsers, GATEWAY_ACCOUNT } from "../os/accounts.ts";
import { GatewayConnection } from "./gateway-connection.ts";
import { readGatewayMessage } from "./gateway-messages.ts";

/** How long a gateway may take to let go of a port; it does so at once unless something is wrong with it. */
const RELEASE_TIMEOUT_MS = 1_000;
/** Disconnecting clients takes one turn of its loop, however many there are. */
const DETACH_TIMEOUT_MS = 5_000;
/** A gateway answers in time by itself; one that does not will not any more. */
const DRAIN_GRACE_MS = 1_000;
/** A gateway that was there before this host, or lost the link to it, looks for it again within this time. */
const CONTACT_MS = 1_000;

/** The longest entry of one instance, as JSON. Of one that exceeds it the gateway keeps what it knows; all others are told. */
export const MAX_ENTRY_BYTES = 1024 ** 2;

/** What is done when the gateway tells of an instance. */
export interface GatewayEvents {
  wake(id: string, reason: WakeReason): void;
  woken(id: string, wake: Wake): void;
  quiet(id: string): void;
  users(id: string): void;
  /** It has handed over what it listens at, and waits for what it is to listen at. */
  holding(): void;
}

type Question = Extract<HostMessage, { id: string }>;

type Answer = Extract<GatewayMessage["type"], "released" | "drained" | "busy" | "detached"> | "none";

/** What instances have to say to the gateway. */
export type InstanceGateway = Pick<GatewayLink, "contact" | "tell" | "withdraw" | "drain" | "detach">;

export class GatewayLink {
  readonly #log: Log;
  /** What the gateway is to know of each instance, as JSON. */
  readonly #entries = new Map<string, string>();
  /** Who waits for an answer about an instance; one question about one is asked at a time. */
  readonly #waiting = new Map<string, { question: number; resolve(answer: Answer): void }>();
  #questions = 0;
  #contact = Promise.withResolvers<void>();
  #listener: UnixSocketListener<GatewayConnection | null> | null = null;
  #gateway: GatewayConnection | null = null;
  /** Gateways that have not said yet which version they speak; each has clients of its own. */
  readonly #ungreeted = new Set<GatewayConnection>();
  /** What was said of the latest gateway, when that speaks another version. */
  #mismatch: string | null = null;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Begins to listen; a gateway that comes later than another takes its place. */
  listen(socketPath: string, events: GatewayEvents): void {
    mkdirSync(dirname(socketPath), { recursive: true, mode: 0o711 });
    rmSync(socketPath, { force: true });
    this.#listener = Bun.listen<GatewayConnection | null>({
      unix: socketAddress(socketPath),
      data: null,
      socket: {
        open: (socket) => {
          const connection: GatewayConnection = new GatewayConnection(socket, {
            greeted: () => this.#greet(connection),
            said: (line) => this.#heard(readGatewayMessage(line), events),
          });
          socket.data = connection;
          this.#ungreeted.add(connection);
        },
        data: (socket, bytes) => {
          try {
            if (socket.data === this.#gateway || socket.data?.isGreeted === false) socket.data?.take(bytes);
          } catch (error) {
            this.#complain(error);
            socket.terminate();
          }
        },
        drain: (socket) => socket.data?.flush(),
        close: (socket) => this.#lost(socket.data),
        error: (socket) => this.#lost(socket.data),
      },
    });
    // Nobody but the gateway may wake anything.
    chmodSync(socketPath, 0o600);
    if (canSwitchUsers()) chownSync(socketPath, GATEWAY_ACCOUNT.uid, GATEWAY_ACCOUNT.gid);
    this.#awaitGateway();
  }

  close(): void {
    this.#listener?.stop(true);
    this.#listener = null;
  }

  /** Resolves when a gateway is there, or none has come for so long that there is none. */
  get contact(): Promise<void> {
    return this.#contact.promise;
  }

  /**
   * Tells the gateway how an instance is now, unless it was told the same before.
   * @param isAnswer whether it waits for it in any case.
   */
  tell(entry: Route, isAnswer = false): void {
    const text = JSON.stringify(entry);
    if (Buffer.byteLength(text) > MAX_ENTRY_BYTES) {
      this.#log.error({ instance: entry.id }, "an entry is too long for the gateway and was left out");
      return;
    }
    if (!isAnswer && this.#entries.get(entry.id) === text) return;
    this.#entries.set(entry.id, text);
    this.#gateway?.sendEntry(entry.id, text, isAnswer);
  }

  /** Has the gateway give up the address of an instance; resolves when it does not listen there, or does not answer. */
  async withdraw(id: string): Promise<void> {
    if (!this.#entries.delete(id)) return;
    await this.#ask({ type: "gone", id }, RELEASE_TIMEOUT_MS);
  }

  /**
   * Has the gateway hold whoever comes, until nothing is under way any more.
   * @param isYielding whether a client that has something to say meanwhile comes first, until all are detached.
   * @returns false when something still is; the gateway goes on holding until it is told of another state.
   */
  async drain(id: string, withinMs: number, isYielding = false): Promise<boolean> {
    if (this.#gateway === null) return await this.#isAlone();
    return (
      (await this.#ask({ type: "drain", id, withinMs, isYielding }, withinMs + DRAIN_GRACE_MS)) === "drained"
    );
  }

  /** Has the gateway part all clients from the engine. @returns false when something is under way again, or it may not have done so. */
  async detach(id: string): Promise<boolean> {
    if (this.#gateway === null) return await this.#isAlone();
    return (await this.#ask({ type: "detach", id }, DETACH_TIMEOUT_MS)) === "detached";
  }

  async #ask(message: Question, timeoutMs: number): Promise<Answer> {
    if (this.#gateway === null) return "none";
    const { id, type } = message;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const timer = setTimeout(() => resolve("none"), timeoutMs);
    const waiting = { question: ++this.#questions, resolve };
    this.#waiting.get(id)?.resolve("none");
    this.#waiting.set(id, waiting);
    const isNumbered = type === "drain" || type === "detach";
    this.#gateway.send(isNumbered ? { ...message, question: waiting.question } : message);
    const answer = await promise;
    clearTimeout(timer);
    if (this.#waiting.get(id) === waiting) this.#waiting.delete(id);
    return answer;
  }

  #answered(message: Extract<GatewayMessage, { type: Answer }>): void {
    const waiting = this.#waiting.get(message.id);
    // What it said of a drain that was given up says nothing of a later one.
    if ("question" in message && message.question !== waiting?.question) return;
    waiting?.resolve(message.type);
  }

  #greet(gateway: GatewayConnection): void {
    const former = this.#gateway;
    if (former !== null) {
      this.#lost(former);
      former.end();
    }
    this.#ungreeted.delete(gateway);
    this.#gateway = gateway;
    this.#mismatch = null;
    gateway.send({ type: "entries", ids: [...this.#entries.keys()] });
    for (const [id, text] of this.#entries) gateway.sendEntry(id, text);
    gateway.send({ type: "synced" });
    this.#contact.resolve();
    this.#log.info("a gateway is there");
  }

  /** A gateway of another version comes again and again, of which the log hears once. */
  #complain(error: unknown): void {
    const mismatch = error instanceof VersionMismatch ? error.message : null;
    if (mismatch !== null && mismatch === this.#mismatch) return;
    this.#mismatch = mismatch;
    this.#log.error({ error }, "the gateway cannot be understood");
  }

  #lost(gateway: GatewayConnection | null): void {
    if (gateway !== null) this.#ungreeted.delete(gateway);
    if (gateway === null || gateway !== this.#gateway) return;
    this.#gateway = null;
    this.#contact = Promise.withResolvers<void>();
    this.#awaitGateway();
    for (const { resolve } of this.#waiting.values()) resolve("none");
    this.#log.info("the gateway has gone");
  }

  /** Whether no client is held by anybody: a gateway that only lost the link goes on serving its own, and is back in a moment. */
  async #isAlone(): Promise<boolean> {
    await this.contact;
    return this.#gateway === null && this.#ungreeted.size === 0 && this.#mismatch === null;
  }

  /** Has nobody wait for a gateway any longer when none has come. */
  #awaitGateway(): void {
    const contact = this.#contact;
    setTimeout(() => contact.resolve(), CONTACT_MS).unref();
  }

  /** What goes wrong with one message is no reason to lose those after it. */
  #heard(message: GatewayMessage, events: GatewayEvents): void {
    try {
      this.#take(message, events);
    } catch (error) {
      this.#log.error(
        { error, ...("id" in message && { instance: message.id }), type: message.type },
        "what the gateway told could not be taken in",
      );
    }
  }

  #take(message: GatewayMessage, events: GatewayEvents): void {
    switch (message.type) {
      case "wake":
        return events.wake(message.id, message.reason);
      case "woken":
        this.#log.info({ instance: message.id, ...message.wake }, "an instance was woken");
        return events.woken(message.id, message.wake);
      case "holding":
        return events.holding();
      case "quiet":
      case "users":
        return events[message.type](message.id);
      default:
        return this.#answered(message);
    }
  }
}
