// Support for tests of webhooks: a clock that they move themselves, and a server that records its requests.
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../lib/log.ts";
import type { Clock } from "./clock.ts";
import { Webhooks, type WebhooksOptions } from "./index.ts";

interface Timer {
  dueMs: number;
  task: () => void;
}

/** Stands still until `advance`. */
export class ManualClock implements Clock {
  #nowMs = Date.parse("2026-03-01T00:00:00Z");
  readonly #timers = new Set<Timer>();

  wallMs(): number {
    return this.#nowMs;
  }

  steadyMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, task: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, task };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How long until each timer, soonest first. */
  get pendingMs(): number[] {
    return Array.from(this.#timers, ({ dueMs }) => dueMs - this.#nowMs).sort((one, other) => one - other);
  }

  /** Moves on, and runs the timers that fall due on the way. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (let next = this.#next(endMs); next !== null; next = this.#next(endMs)) {
      this.#timers.delete(next);
      this.#nowMs = next.dueMs;
      next.task();
    }
    this.#nowMs = endMs;
  }

  #next(endMs: number): Timer | null {
    let soonest: Timer | null = null;
    for (const each of this.#timers) {
      if (each.dueMs <= endMs && (soonest === null || each.dueMs < soonest.dueMs)) soonest = each;
    }
    return soonest;
  }
}

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The events of the body. */
  events: { name: string; [member: string]: unknown }[];
  /** The sender's port: the same for all requests on a connection. */
  port: number;
}

/** A customer's server on the loopback address. */
export class HookServer {
  readonly received: Received[] = [];
  /** The answer to each path; 200 when not set. A function decides at each request. */
  readonly answers = new Map<string, number | (() => number | Promise<number>)>();
  readonly #server = createServer(this.#listener());
  #waiting: (() => void)[] = [];

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  url(path = "/hook", host = "127.0.0.1"): string {
    return `http://${host}:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** Requests to a path. */
  at(path: string): Received[] {
    return this.received.filter((each) => each.path === path);
  }

  /** Resolves with all requests when there are so many of them. */
  async until(count: number, path?: string): Promise<Received[]> {
    const found = () => (path === undefined ? this.received : this.at(path));
    while (found().length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return found();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #listener(): RequestListener {
    return async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const { events } = JSON.parse(body) as { events: Received["events"] };
      const path = request.url ?? "";
      const { headers, socket } = request;
      this.received.push({ path, headers, body, events, port: socket.remotePort ?? 0 });
      for (const wake of this.#waiting.splice(0)) wake();
      const answer = this.answers.get(path) ?? 200;
      response.writeHead(typeof answer === "number" ? answer : await answer(), { Location: "/elsewhere" });
      response.end("taken");
    };
  }
}

/** The signature, as the customer computes it. */
export function signatureOf(body: string, secret: string): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/** Checks again after each turn of the event loop. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

export const SECRET = "the secret";

/**
 * The webhooks of one application with a clock that stands still; a second call with the same file is the next process.
 */
export function startWebhooks(options: Partial<WebhooksOptions> & { spoolFile: string }): {
  clock: ManualClock;
  webhooks: Webhooks;
} {
  const clock = new ManualClock();
  const webhooks = new Webhooks({
    applicationId: "app",
    credentials: () => ({ key: "the key", secret: SECRET }),
    allowPrivate: true,
    waiting: { bytes: 0, maxBytes: Number.POSITIVE_INFINITY },
    heldDepartures: { count: 0, max: Number.POSITIVE_INFINITY },
    log: createLog("realtime", "silent"),
    clock,
    ...options,
  });
  return { clock, webhooks };
}

/** A temporary folder, which `remove` deletes. */
export function temporaryFolder(): { path: (name: string) => string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "webhooks-"));
  return {
    path: (name) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
