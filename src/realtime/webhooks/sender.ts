// Sends a batch as one signed POST to an address that was checked.
import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { hmacHex } from "../protocol/hmac.ts";
import type { Clock } from "./clock.ts";
import { checkedLookup, ForbiddenAddress, hostOf, portOf, refusalOf, type Resolve } from "./guard.ts";

/** From the look-up of the name to the end of the answer. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Servers commonly close a connection that was idle for 5 s. */
const IDLE_TIMEOUT_MS = 4000;
/** The content of an answer is only read so that the connection can be used again. */
const MAX_ANSWER_BYTES = 64 * 1024;

export type Outcome =
  | { kind: "delivered" }
  /** Nothing was sent, and no later attempt would succeed. */
  | { kind: "refused"; reason: string }
  /** @property answered whether an HTTP answer came, though not a 2xx. */
  | { kind: "failed"; reason: string; answered: boolean };

export interface Credentials {
  key: string;
  secret: string;
}

interface SenderOptions {
  allowPrivate: boolean;
  clock: Clock;
  /** All addresses of a name; the system's look-up when left out. */
  resolve?: Resolve;
}

/**
 * Keeps connections for the next batch. Names are looked up for each new connection, all their addresses are checked,
 * and the connection goes to one of these very addresses: an answer of the DNS that changes between check and use has
 * no effect. Redirects are not followed, and a proxy in the environment is not used.
 */
export class Sender {
  readonly #allowPrivate: boolean;
  readonly #clock: Clock;
  readonly #resolve: Resolve | undefined;
  readonly #agents = {
    "http:": new HttpAgent({ keepAlive: true, timeout: IDLE_TIMEOUT_MS }),
    "https:": new HttpsAgent({ keepAlive: true, timeout: IDLE_TIMEOUT_MS }),
  };

  constructor(options: SenderOptions) {
    this.#allowPrivate = options.allowPrivate;
    this.#clock = options.clock;
    this.#resolve = options.resolve;
  }

  /** Never rejects. @param signal ends the attempt, which then counts as failed. */
  async send(url: string, body: string, by: Credentials, signal: AbortSignal): Promise<Outcome> {
    const target = URL.parse(url);
    const refusal = refusalOf(target, this.#allowPrivate);
    if (target === null || refusal !== null) return { kind: "refused", reason: refusal ?? "" };
    try {
      const first = await this.#post(target, body, by, signal);
      if (first !== "stale") return first;
      // The server closed a kept connection just when it was used again, which is no fault of the server.
      const second = await this.#post(target, body, by, signal);
      return second === "stale" ? { kind: "failed", reason: "ECONNRESET", answered: false } : second;
    } catch (error) {
      return { kind: "failed", reason: String(error), answered: false };
    }
  }

  /** Closes the kept connections. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  #post(target: URL, body: string, by: Credentials, signal: AbortSignal): Promise<Outcome | "stale"> {
    const { promise, resolve } = Promise.withResolvers<Outcome | "stale">();
    const request = this.#request(target, body, by, signal);
    const cancel = this.#clock.after(REQUEST_TIMEOUT_MS, () => request.destroy(new Error("timeout")));
    let status: number | null = null;
    const end = (outcome: Outcome | "stale") => {
      cancel();
      resolve(outcome);
    };
    request.on("response", (response) => {
      status = response.statusCode ?? 0;
      discard(response);
      response.on("close", () => end(outcomeOfStatus(response.statusCode ?? 0)));
    });
    request.on("upgrade", ({ statusCode = 0 }, socket) => {
      socket.destroy();
      end(outcomeOfStatus(statusCode));
    });
    // The status decides, even when the rest of the answer does not come.
    request.on("error", (error) =>
      end(status === null ? outcomeOfError(error, request) : outcomeOfStatus(status)),
    );
    // Each request ends with this event, some with no other.
    request.on("close", () =>
      end(status === null ? outcomeOfError(new Error("closed"), request) : outcomeOfStatus(status)),
    );
    request.end(body);
    return promise;
  }

  #request(target: URL, body: string, by: Credentials, signal: AbortSignal): ClientRequest {
    const secure = target.protocol === "https:";
    return (secure ? httpsRequest : httpRequest)({
      agent: this.#agents[secure ? "https:" : "http:"],
      host: hostOf(target),
      port: portOf(target),
      path: `${target.pathname}${target.search}`,
      method: "POST",
      lookup: checkedLookup(target, this.#allowPrivate, this.#resolve),
      signal,
      headers: {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(body),
        "User-Agent": "Pilvi",
        "X-Pusher-Key": by.key,
        "X-Pusher-Signature": hmacHex(by.secret, body),
      },
    });
  }
}

function outcomeOfError(error: Error & { code?: string }, request: ClientRequest): Outcome | "stale" {
  if (error instanceof ForbiddenAddress) return { kind: "refused", reason: error.message };
  if (request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE")) return "stale";
  return { kind: "failed", reason: error.code ?? error.message, answered: false };
}

function outcomeOfStatus(status: number): Outcome {
  if (status >= 200 && status < 300) return { kind: "delivered" };
  return { kind: "failed", reason: `HTTP ${status}`, answered: true };
}

/** Reads a short answer; a long answer costs the connection. */
function discard(response: IncomingMessage): void {
  let bytes = 0;
  response.on("error", () => undefined);
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
  });
}
