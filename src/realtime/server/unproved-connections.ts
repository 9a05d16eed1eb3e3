// Bounds the connections of a realtime server that are not WebSockets yet, so that they leave descriptors to clients.
import type { Server } from "bun";
import { deepenQueue } from "../../lib/accepted-sockets.ts";
import { openFileLimit } from "../../lib/open-files.ts";
import { type Call, ServerConnections } from "../../lib/server-connections.ts";

/** The share of descriptors for connections that are no WebSocket and have had no good answer. */
const UNPROVED_SHARE = 1 / 16;
const [LEAST_UNPROVED, MOST_UNPROVED] = [32, 1_024];
/** Descriptors that are kept for the server itself. */
const OWN_DESCRIPTORS = 64;
/** The most connections that wait to be accepted; the kernel has a limit of its own beside it. */
const QUEUE = 4_096;
/** An answer with this status or above says that the client did something wrong. */
const FIRST_ERROR = 400;

type Answer = Response | undefined;

export class UnprovedConnections {
  readonly #port: number;
  readonly #connections: ServerConnections;

  /** @param port where the server listens. */
  constructor(port: number) {
    this.#port = port;
    const openFiles = openFileLimit();
    const unproved = Math.min(
      MOST_UNPROVED,
      Math.max(LEAST_UNPROVED, Math.floor(openFiles * UNPROVED_SHARE)),
    );
    this.#connections = new ServerConnections(port, { all: openFiles - OWN_DESCRIPTORS, unproved });
  }

  /** Begins to bound a server that listens. */
  start(): void {
    deepenQueue(this.#port, QUEUE);
    this.#connections.start();
  }

  /** Answers a request. @param answer returns undefined for a connection that becomes a WebSocket. */
  answer(
    request: Request,
    server: Server<unknown>,
    answer: () => Answer | Promise<Answer>,
  ): Answer | Promise<Answer> {
    const call = this.#connections.begin(server.requestIP(request));
    const response = answer();
    if (response !== undefined) return ended(call, response);
    // The request is under way for as long as the WebSocket lasts. Crowds of clients come at once, so none waits here.
    call.prove();
    return undefined;
  }
}

async function ended(call: Call, answer: Answer | Promise<Answer>): Promise<Answer> {
  const response = await answer;
  if (response !== undefined && response.status < FIRST_ERROR) call.prove();
  call.end();
  return response;
}
