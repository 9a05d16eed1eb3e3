// A WebSocket of a client, which a request has become.

/** The connection as its handler has it. */
export interface ClientSocket {
  /** Text frames are strings, binary frames are bytes. A client that leaves too much unread is cut off. */
  send(frame: string | Uint8Array): void;
  /** Ends it after all that was sent. @param reason at most 120 bytes. */
  close(code: number, reason: string): void;
}

/** Takes over a connection; each method but `received` is called once at most. */
export interface SocketHandler {
  opened(socket: ClientSocket): void;
  received(frame: string | Uint8Array): void;
  /** The connection has ended, or never came to be. */
  closed(): void;
}

/** Codes with which connections end (RFC 6455). */
export const [NORMAL, GOING_AWAY, REFUSED, FAILED] = [1000, 1001, 1008, 1011];
