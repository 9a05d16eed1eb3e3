// A connection's way to its socket, on Bun's WebSocket server.
import type { ServerWebSocket } from "bun";
import type { Transport } from "../transport.ts";

export class SocketTransport implements Transport {
  readonly #socket: ServerWebSocket<unknown>;

  constructor(socket: ServerWebSocket<unknown>) {
    this.#socket = socket;
  }

  send(frame: string): void {
    this.#socket.sendText(frame);
  }

  close(code: number, reason: string): void {
    // Leaves all topics, and ends the socket some 4 s later whatever the client does; `terminate` would do nothing any more.
    this.#socket.close(code, reason);
  }

  join(topic: string): void {
    this.#socket.subscribe(topic);
  }

  leave(topic: string): void {
    this.#socket.unsubscribe(topic);
  }

  publishToOthers(topic: string, frame: string): void {
    this.#socket.publishText(topic, frame);
  }

  bufferedBytes(): number {
    return this.#socket.getBufferedAmount();
  }
}
