// A port for a server that listens at a unix socket only.
import { connect, createServer } from "node:net";

/** Listens on a port of this machine and forwards to a unix socket. */
export function forward(socketPath: string): { port: number; close(): void } {
  const server = createServer((from) => {
    const to = connect(socketPath);
    from.pipe(to).pipe(from);
    for (const socket of [from, to]) socket.on("error", () => [from, to].forEach((each) => each.destroy()));
  }).listen(0, "127.0.0.1");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it does not listen");
  return { port: address.port, close: () => void server.close() };
}
