// The host's unix socket for the gateway: publishes the routes, and has the gateway disconnect clients from engines.
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { UnixSocketListener } from "bun";
import { VersionMismatch } from "../../contracts/versions.ts";
import type { GatewayMessage, HostMessage, Route } from "../../contracts/gateway-link.ts";
import type { Wake, WakeReason } from "../../contracts/sleep.ts";
import type { Log } from "../../lib/log.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import { canSwitchUsers, GATEWAY_ACCOUNT } from "../os/accounts.ts";
import type { GatewayAddresses } from "../os/addresses.ts";
import { AddressQuestions } from "./address-questions.ts";
import { GatewayConnection } from "./gateway-connection.ts";
import { readGatewayMessage } from "./gateway-messages.ts";

/** The time limit for the release of a port. A healthy gateway releases it at once. */
const RELEASE_TIMEOUT_MS = 1_000;
/** The gateway asks the engine about each client at first, for 20 s at most. */
const DETACH_TIMEOUT_MS = 25_000;
/** A gateway answers by its own deadline. An answer this much later will not come. */
const DRAIN_GRACE_MS = 1_000;
/** A gateway from before this host, or with a broken link, connects again within this time. */
const CONTACT_MS = 1_000;

/** The longest entry, as JSON. The gateway keeps the former state of an instance with a longer entry. */
export const MAX_ENTRY_BYTES = 1024 ** 2;

/** Callbacks for the gateway's messages about instances. */
export interface GatewayEvents {
  wake(id: string, reason: WakeReason): void;
  woken(id: string, wake: Wake): void;
  idle(id: string): void;
  users(id: string, question: number): void;
  /** Exchanges sockets with the gateway. */
  addresses: GatewayAddresses;
}

type Question = Extract<HostMessage, { id: string }>;

type Answer = Extract<GatewayMessage["type"], "released" | "drained" | "busy" | "detached"> | "none";

/** The gateway link as instances use it. */
export type InstanceGateway = Pick<GatewayLink, "contact" | "publish" | "withdraw" | "drain" | "detach">;

export class GatewayLink {
  readonly #log: Log;
  /** The entry of each instance that the gateway is to have, as JSON. */
  readonly #entries = new Map<string, string>();
  /** The callers that wait for an answer, by instance; there is one question about an instance at a time. */
  readonly #waiting = new Map<string, { question: number; resolve(answer: Answer): void }>();
  /** How many clients have logged in at the gateway, by instance. */
  readonly #clients = new Map<string, number>();
  readonly #addresses: AddressQuestions;
  readonly #contactMs: number;
  #questions = 0;
  #contact = Promise.withResolvers<void>();
  #listener: UnixSocketListener<GatewayConnection | null> | null = null;
  #gateway: GatewayConnection | null = null;
  /** Gateways that have not greeted yet, and so have no known version; each has clients of its own. */
  readonly #ungreeted = new Set<GatewayConnection>();
  /** The complaint about the latest gateway, when that speaks another version. */
  #mismatch: string | null = null;

  /** @param contactMs the time for a gateway to connect again. @param addressesMs that for the addresses of clients. */
  constructor(
    log: Log,
    { contactMs = CONTACT_MS, addressesMs }: { contactMs?: number; addressesMs?: number } = {},
  ) {
    this.#log = log;
    this.#contactMs = contactMs;
    this.#addresses = new AddressQuestions(addressesMs);
  }

  /** Begins to listen. A later gateway replaces the earlier one. */
  listen(socketPath: string, events: GatewayEvents): void {
    mkdirSync(dirname(socketPath), { recursive: true, mode: 0o711 });
    rmSync(socketPath, { force: true });
    this.#listener = Bun.listen<GatewayConnection | null>({
      unix: socketAddress(socketPath),
      data: null,
      socket: {
        open: (socket) => {
          const connection: GatewayConnection = new GatewayConnection(socket, {
            greeted: () => this.#greet(connection, events),
            said: (line) => this.#receive(readGatewayMessage(line), events),
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
        close: (socket) => this.#lost(socket.data, events),
        error: (socket) => this.#lost(socket.data, events),
      },
    });
    // Only the gateway may wake instances.
    chmodSync(socketPath, 0o600);
    if (canSwitchUsers()) chownSync(socketPath, GATEWAY_ACCOUNT.uid, GATEWAY_ACCOUNT.gid);
    this.#awaitGateway();
  }

  close(): void {
    this.#listener?.stop(true);
    this.#listener = null;
  }

  /** Resolves when a gateway has connected, or when the wait for a gateway is over. */
  get contact(): Promise<void> {
    return this.#contact.promise;
  }

  /**
   * Sends the route of an instance, unless it has not changed.
   * @param question the question of the gateway that it answers, even if it has not changed.
   */
  publish(entry: Route, question?: number): void {
    const text = JSON.stringify(entry);
    if (Buffer.byteLength(text) > MAX_ENTRY_BYTES) {
      this.#log.error({ instance: entry.id }, "an entry is too long for the gateway and was left out");
      return;
    }
    if (question === undefined && this.#entries.get(entry.id) === text) return;
    this.#entries.set(entry.id, text);
    this.#gateway?.sendEntry(entry.id, text, question);
  }

  /** How many clients have logged in at the gateway; undefined for an instance that is not behind it. */
  clientsOf(id: string): number | undefined {
    return this.#entries.has(id) ? (this.#clients.get(id) ?? 0) : undefined;
  }

  /**
   * Asks the gateway for the client address of each session, by the number that the engine gave the session. The answer
   * lacks sessions that the gateway does not know, such as all sessions of an instance that is not behind the gateway.
   */
  async addressesOf(id: string, sessions: readonly number[]): Promise<Map<number, string>> {
    const gateway = this.#gateway;
    if (gateway === null || sessions.length === 0 || !this.#entries.has(id)) return new Map();
    const answer = await this.#addresses.ask((question) =>
      gateway.send({ type: "addresses", id, sessions: [...sessions], question }),
    );
    return new Map(
      sessions.flatMap((session, index): [number, string][] => {
        const address = answer[index] ?? null;
        return address === null ? [] : [[session, address]];
      }),
    );
  }

  /** Withdraws an instance from the gateway; resolves when the gateway has released the address, or does not answer. */
  async withdraw(id: string): Promise<void> {
    this.#clients.delete(id);
    if (!this.#entries.delete(id)) return;
    await this.#ask({ type: "gone", id }, RELEASE_TIMEOUT_MS);
  }

  /**
   * Has the gateway hold new requests until nothing is under way.
   * @param isYielding whether a client's request ends the drain, until all clients are detached.
   * @returns false when something is still under way; the gateway holds requests until it gets another state.
   */
  async drain(id: string, withinMs: number, isYielding = false): Promise<boolean> {
    if (this.#gateway === null) return await this.#isAlone();
    return (
      (await this.#ask({ type: "drain", id, withinMs, isYielding }, withinMs + DRAIN_GRACE_MS)) === "drained"
    );
  }

  /**
   * Has the gateway disconnect all clients from the engine.
   * @returns false when something is under way again, or the gateway may not have done so.
   */
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
    // The answer to an abandoned drain does not hold for a later drain.
    if ("question" in message && message.question !== waiting?.question) return;
    waiting?.resolve(message.type);
  }

  #greet(gateway: GatewayConnection, events: GatewayEvents): void {
    const former = this.#gateway;
    if (former !== null) {
      this.#lost(former, events);
      former.end();
    }
    this.#ungreeted.delete(gateway);
    this.#gateway = gateway;
    this.#mismatch = null;
    events.addresses.expect();
    gateway.send({ type: "entries", ids: [...this.#entries.keys()] });
    for (const [id, text] of this.#entries) gateway.sendEntry(id, text);
    gateway.send({ type: "synced" });
    this.#contact.resolve();
    this.#log.info("a gateway is there");
  }

  /** A gateway of another version connects again and again; the log gets one line about it. */
  #complain(error: unknown): void {
    const mismatch = error instanceof VersionMismatch ? error.message : null;
    if (mismatch !== null && mismatch === this.#mismatch) return;
    this.#mismatch = mismatch;
    this.#log.error({ error }, "the gateway cannot be understood");
  }

  #lost(gateway: GatewayConnection | null, events: GatewayEvents): void {
    if (gateway !== null) this.#ungreeted.delete(gateway);
    if (gateway === null || gateway !== this.#gateway) return;
    this.#gateway = null;
    events.addresses.stopExpecting();
    this.#clients.clear();
    this.#contact = Promise.withResolvers<void>();
    this.#awaitGateway();
    for (const { resolve } of this.#waiting.values()) resolve("none");
    this.#addresses.abandon();
    this.#log.info("the gateway has gone");
  }

  /** Whether no gateway holds a client. A gateway with a broken link keeps its clients, and soon connects again. */
  async #isAlone(): Promise<boolean> {
    await this.contact;
    return this.#gateway === null && this.#ungreeted.size === 0 && this.#mismatch === null;
  }

  /** Ends the wait for a gateway after a time without a connection. */
  #awaitGateway(): void {
    const contact = this.#contact;
    setTimeout(() => contact.resolve(), this.#contactMs).unref();
  }

  /** A failure with one message must not cost the messages after it. */
  #receive(message: GatewayMessage, events: GatewayEvents): void {
    try {
      this.#take(message, events);
    } catch (error) {
      this.#log.error(
        { error, ...("id" in message && { instance: message.id }), type: message.type },
        "a message of the gateway could not be processed",
      );
    }
  }

  /** An instance that the host does not know takes no memory. */
  #count(counts: Record<string, number>): void {
    for (const [id, count] of Object.entries(counts)) {
      if (count > 0 && this.#entries.has(id)) this.#clients.set(id, count);
      else this.#clients.delete(id);
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
        return events.addresses.meet();
      case "clients":
        return this.#count(message.counts);
      case "addresses":
        return this.#addresses.answered(message.question, message.addresses);
      case "idle":
        return events.idle(message.id);
      case "users":
        return events.users(message.id, message.question);
      default:
        return this.#answered(message);
    }
  }
}
