// The handlers that all sockets of the gateway share: each event goes to the stream of its socket.
import type { SocketHandler } from "bun";
import type { SocketStream } from "./socket-stream.ts";

/** The owner of a socket's events. */
export interface SocketOwner {
  /** Runs the code of an event; its error ends this connection alone. */
  guard(event: (stream: SocketStream) => void): void;
}

export const streamHandlers: SocketHandler<SocketOwner> = {
  binaryType: "uint8array",
  open: (socket) => socket.data.guard((stream) => stream.adopt(socket)),
  data: (socket, bytes) => socket.data.guard((stream) => stream.received(bytes)),
  drain: (socket) => socket.data.guard((stream) => stream.drained()),
  end: (socket) => socket.data.guard((stream) => stream.peerEnded()),
  close: (socket) => socket.data.guard((stream) => stream.gone()),
  // A session of TLS has failed, and `close` follows: the streams throw nothing themselves.
  error: () => {},
};

/** Ignores all events. */
export const NOBODY: SocketOwner = { guard: () => {} };
