// The transport of a connection, on Bun's WebSocket server.
import type { ServerWebSocket } from "bun";
import type { Transport } from "../transport.ts";

/** How much may have begun to wait in buffers; as long as it is little, no socket need be checked. */
export interface Backlog {
  /** No buffer has grown by more than this since it was 0. */
  bytes: number;
}

/** The part of Bun's socket that is used. */
export type Socket = Pick<
  ServerWebSocket<unknown>,
  "sendText" | "publishText" | "subscribe" | "unsubscribe" | "ping" | "close" | "getBufferedAmount"
>;

export class SocketTransport implements Transport {
  readonly #socket: Socket;
  readonly #backlog: Backlog;

  constructor(socket: Socket, backlog: Backlog) {
    this.#socket = socket;
    this.#backlog = backlog;
  }

  send(frame: string): void {
    // Bun returns a number that is not positive when the socket did not take the frame at once.
    if (this.#socket.sendText(frame) <= 0) this.#backlog.bytes += frame.length;
  }

  ping(): void {
    this.#socket.ping();
  }

  close(code: number, reason: string): void {
    // Bun leaves all topics, and ends the socket some 4 s later whatever the client does; `terminate` would do nothing
    // any more.
    this.#socket.close(code, reason);
  }

  join(topic: string): void {
    this.#socket.subscribe(topic);
  }

  leave(topic: string): void {
    this.#socket.unsubscribe(topic);
  }

  publishToOthers(topic: string, frame: string): void {
    this.#backlog.bytes += frame.length;
    this.#socket.publishText(topic, frame);
  }

  bufferedBytes(): number {
    return this.#socket.getBufferedAmount();
  }
}
