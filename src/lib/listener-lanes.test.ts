// The listeners of a port, of which each network of clients has its own, with real sockets.
import { afterEach, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Server } from "bun";
import { LANES, leadByNetwork, leadToOne } from "./listener-lanes.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Listens so often at one port. @returns the port, and for each client the listener that has accepted it. */
function listen(listeners: number, hostname = "127.0.0.1") {
  const acceptedBy = new Map<string, number>();
  const servers: Server<undefined>[] = [];
  let port = 0;
  for (let index = 0; index < listeners; index += 1) {
    const server = Bun.serve({
      hostname,
      port,
      reusePort: true,
      fetch: (request, self) => {
        acceptedBy.set(String(self.requestIP(request)?.port), index);
        return new Response("here");
      },
    });
    port = Number(server.port);
    servers.push(server);
  }
  closers.push(() => servers.map((server) => void server.stop(true)));
  const ask = async (host: string, localAddress: string): Promise<number | undefined> => {
    const socket: Socket = connect({ host, port, localAddress });
    closers.push(() => socket.destroy());
    await once(socket, "connect");
    const from = String(socket.localPort);
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(socket, "data");
    return acceptedBy.get(from);
  };
  return { port, servers, ask };
}

const addresses = Array.from({ length: LANES }, (_, index) => `127.0.0.${index + LANES}`);

test("all connections of an address come to one listener, and those of neighbouring addresses to others", async () => {
  const { port, ask } = listen(LANES);
  leadByNetwork(port);
  const lanes = [];
  for (const address of addresses) {
    const lane = await ask("127.0.0.1", address);
    lanes.push(lane);
    for (let again = 0; again < 8; again += 1) expect(await ask("127.0.0.1", address)).toBe(lane);
  }
  expect(new Set(lanes).size).toBe(LANES);
});

test("all connections of an IPv6 network come to one listener", async () => {
  const { port, ask } = listen(LANES, "::1");
  leadByNetwork(port);
  const lane = await ask("::1", "::1");
  for (let again = 0; again < 16; again += 1) expect(await ask("::1", "::1")).toBe(lane);
});

test("older listeners are passed over, and end without another listener being asked in their place", async () => {
  const { port, servers, ask } = listen(2 * LANES);
  leadByNetwork(port, LANES);
  for (const address of addresses) expect(await ask("127.0.0.1", address)).toBeGreaterThanOrEqual(LANES);
  leadToOne(port, LANES);
  for (const address of addresses) expect(await ask("127.0.0.1", address)).toBe(LANES);
  for (const older of servers.slice(0, LANES)) {
    void older.stop();
    expect(await ask("127.0.0.1", "127.0.0.17")).toBeGreaterThanOrEqual(LANES);
  }
  leadByNetwork(port);
  const lanes = [];
  for (const address of addresses) lanes.push(await ask("127.0.0.1", address));
  expect(new Set(lanes).size).toBe(LANES);
});
