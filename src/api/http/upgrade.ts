// Requests that become WebSockets, on Bun's server.
import type { SocketHandler } from "../operation/client-socket.ts";

/** A client whose connection is lost without a word is noticed after so long, by pings. */
const IDLE_TIMEOUT_SECONDS = 30;

/** The most bytes of a frame of a client. */
const MAX_FRAME = 64 * 1024;

/** A client that leaves more unread than this ends with its connection. */
const MAX_UNREAD_BYTES = 1024 ** 2;

/** What a WebSocket belongs to. */
export interface UpgradedSocket {
  handler: SocketHandler;
  ended(): void;
}

/** A request that its handler may make a WebSocket. */
export class Upgrade {
  readonly #request: Request;
  readonly #server: Pick<Bun.Server<UpgradedSocket>, "upgrade">;
  readonly #ended: () => void;
  #isDone = false;

  /** @param ended is called at the end of the WebSocket, if it becomes one. */
  constructor(
    request: Request,
    server: Pick<Bun.Server<UpgradedSocket>, "upgrade">,
    ended: () => void = () => undefined,
  ) {
    this.#request = request;
    this.#server = server;
    this.#ended = ended;
  }

  /** Whether the connection is a WebSocket, so that the request has no further answer. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Makes the connection a WebSocket. @returns false for a request that is no handshake. */
  readonly run = (handler: SocketHandler): boolean => {
    // Bun may open the socket, and end it, before it returns.
    this.#isDone = true;
    this.#isDone = this.#server.upgrade(this.#request, { data: { handler, ended: this.#ended } });
    return this.#isDone;
  };
}

/** The WebSockets of a server. */
export const upgradedSockets: Bun.WebSocketHandler<UpgradedSocket> = {
  maxPayloadLength: MAX_FRAME,
  idleTimeout: IDLE_TIMEOUT_SECONDS,
  sendPings: true,
  backpressureLimit: MAX_UNREAD_BYTES,
  closeOnBackpressureLimit: true,
  perMessageDeflate: false,
  open: (socket) =>
    socket.data.handler.opened({
      send: (frame) => void socket.send(frame),
      close: (code, reason) => socket.close(code, reason),
    }),
  message: (socket, frame) => socket.data.handler.received(frame),
  close(socket) {
    socket.data.handler.closed();
    socket.data.ended();
  },
};
