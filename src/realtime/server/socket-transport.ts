// The transport of a connection, on Bun's WebSocket server.
import type { ServerWebSocket } from "bun";
import type { Transport } from "../transport.ts";
import type { Backlog } from "./backlog.ts";

/** The part of Bun's socket that is used. */
export type Socket = Pick<
  ServerWebSocket<unknown>,
  | "sendText"
  | "publishText"
  | "subscribe"
  | "unsubscribe"
  | "ping"
  | "close"
  | "terminate"
  | "getBufferedAmount"
>;

export class SocketTransport implements Transport {
  readonly #socket: Socket;
  readonly #backlog: Backlog;
  /** An upper bound of the unsent bytes of answers, taken when an answer last had to wait. */
  #answerBytes = 0;

  constructor(socket: Socket, backlog: Backlog) {
    this.#socket = socket;
    this.#backlog = backlog;
  }

  send(frame: string): void {
    // Bun returns a number that is not positive when the socket did not take the frame at once.
    if (this.#socket.sendText(frame) <= 0) this.#waits(frame);
  }

  ping(): void {
    this.#socket.ping();
  }

  close(code: number, reason: string): void {
    // Bun leaves all topics, and ends the socket some 4 s later whatever the client does; `terminate` would do nothing
    // any more.
    if (this.#backlog.mayLinger(this.#socket.getBufferedAmount())) this.#socket.close(code, reason);
    else this.#socket.terminate();
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

  bufferedAnswerBytes(): number {
    return this.#answerBytes === 0 ? 0 : Math.min(this.#answerBytes, this.#socket.getBufferedAmount());
  }

  #waits(answer: string): void {
    const bytes = Buffer.byteLength(answer);
    this.#backlog.bytes += bytes;
    this.#backlog.answerBytes += bytes;
    this.#answerBytes = Math.min(this.#answerBytes + bytes, this.#socket.getBufferedAmount());
  }
}
