// An application that keeps what it gets byte for byte, and reads no body, as simple servers do.
import { createServer, type Server } from "node:net";

export class RawApplication {
  readonly port: number;
  /** All bytes of each connection, in the order of the connections. */
  readonly received: string[];
  readonly #server: Server;

  /** @param answer the body of the answer to the request on a line such as `GET /path HTTP/1.1`. */
  static async start(answer: (line: string) => string = () => "ok"): Promise<RawApplication> {
    const received: string[] = [];
    const server = createServer((socket) => {
      const own = received.push("") - 1;
      let unread = "";
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        received[own] += bytes.toString("latin1");
        unread += bytes.toString("latin1");
        for (let end = unread.indexOf("\r\n\r\n"); end >= 0; end = unread.indexOf("\r\n\r\n")) {
          const body = answer(unread.slice(0, unread.indexOf("\r\n")));
          unread = unread.slice(end + 4);
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new RawApplication(server, received);
  }

  private constructor(server: Server, received: string[]) {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("the application has no port");
    this.port = address.port;
    this.received = received;
    this.#server = server;
  }

  stop(): void {
    this.#server.close();
  }
}
