// Bounds the connections of a realtime server before they are WebSockets, so that strangers leave descriptors to clients.
import type { Server } from "bun";
import { openFileLimit } from "../../lib/open-files.ts";
import { ServerConnections } from "../../lib/server-connections.ts";

/** Connections that are no WebSocket and have asked for nothing that was answered well. */
const UNPROVED_SHARE = 1 / 16;
const [LEAST_UNPROVED, MOST_UNPROVED] = [32, 1_024];
/** Descriptors that no client gets. */
const OWN_DESCRIPTORS = 64;
/** From this status on an answer says that the client did something wrong. */
const FIRST_ERROR = 400;

type Answer = Response | undefined;

export class ConnectionBounds {
  readonly #connections: ServerConnections;

  /** @param port where the server listens. */
  constructor(port: number) {
    const openFiles = openFileLimit();
    const unproved = Math.min(
      MOST_UNPROVED,
      Math.max(LEAST_UNPROVED, Math.floor(openFiles * UNPROVED_SHARE)),
    );
    this.#connections = new ServerConnections(port, { all: openFiles - OWN_DESCRIPTORS, unproved });
  }

  /** Begins with a server that listens. */
  start(): void {
    this.#connections.start();
  }

  /** Answers a request. @param answer gives undefined for a connection that is a WebSocket from then on. */
  async answer(
    request: Request,
    server: Server<unknown>,
    answer: () => Answer | Promise<Answer>,
  ): Promise<Answer> {
    const call = this.#connections.begin(server.requestIP(request));
    const response = await answer();
    if (response === undefined) {
      // It is under way for as long as it lasts.
      call.prove();
      return undefined;
    }
    if (response.status < FIRST_ERROR) call.prove();
    call.end();
    return response;
  }
}
