// The connections that a server of Bun's keeps when more come than it may have, with real sockets.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import type { Server, Socket } from "bun";
import { acceptedSockets } from "./accepted-sockets.ts";
import { ServerConnections } from "./server-connections.ts";

/** How far each look at the clock sets it forward, so that later connections are younger. */
const LOOK_MS = 0.001;

const closers: (() => void)[] = [];
beforeEach(() => {
  // However slow the machine is, no time passes after which silent connections are closed, or requests cause a check.
  let nowMs = performance.now();
  const clock = spyOn(performance, "now").mockImplementation(() => (nowMs += LOOK_MS));
  closers.push(() => clock.mockRestore());
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/**
 * A server that proves the client of every request but `/unproven`, as the owner in the query, and never answers
 * `/held`.
 */
function serve(bounds: { all: number; unproved: number }) {
  const asked: string[] = [];
  const refused: string[] = [];
  const started: { connections: ServerConnections | null } = { connections: null };
  const server: Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const call = started.connections?.begin(server.requestIP(request));
      asked.push(request.url);
      if (call?.isRefused === true) refused.push(request.url);
      const { pathname, searchParams } = new URL(request.url);
      if (pathname !== "/unproven") call?.prove(searchParams.get("owner") ?? undefined);
      if (pathname === "/held") await new Promise(() => undefined);
      call?.end();
      return new Response("here");
    },
  });
  const connections = new ServerConnections(Number(server.port), { ...bounds, graceMs: 0 });
  started.connections = connections;
  closers.push(() => void server.stop(true));
  return { port: Number(server.port), connections, asked, refused };
}

interface Client {
  socket: Socket<Client>;
  isClosed: boolean;
  received: string;
}

async function come(port: number, text: string): Promise<Client> {
  const client: Partial<Client> = { isClosed: false, received: "" };
  const end = () => {
    client.isClosed = true;
  };
  client.socket = await Bun.connect<Client>({
    hostname: "127.0.0.1",
    port,
    data: client as Client,
    socket: {
      data: (_, bytes) => {
        client.received += bytes.toString();
      },
      end,
      close: end,
    },
  });
  client.socket.write(text);
  closers.push(() => client.socket?.terminate());
  return client as Client;
}

/** Connects from another address. */
async function comeFrom(address: string, port: number, text: string): Promise<{ isClosed: boolean }> {
  const client = { isClosed: false };
  const socket = connect({ host: "127.0.0.1", port, localAddress: address });
  socket.on("error", () => undefined).on("close", () => (client.isClosed = true));
  socket.resume();
  await once(socket, "connect");
  socket.write(text);
  closers.push(() => socket.destroy());
  return client;
}

const asking = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const HALF = "GET / HTTP/1.1\r\nHost: lo";

async function crowd(port: number, count: number, text: string): Promise<Client[]> {
  const clients: Client[] = [];
  for (let index = 0; index < count; index += 1) clients.push(await come(port, text));
  return clients;
}

async function until(holds: () => boolean): Promise<void> {
  const giveUpAtMs = Date.now() + 30_000;
  while (!holds()) {
    if (Date.now() > giveUpAtMs) throw new Error("timed out");
    await Bun.sleep(1);
  }
}

const open = (clients: Client[]) => clients.filter(({ isClosed }) => !isClosed).length;
const answered = (clients: Client[]) => clients.every(({ received }) => received.endsWith("here"));

test("a connection is seen before its first request, with the address that a request has", async () => {
  const { port } = serve({ all: 10, unproved: 10 });
  const client = await come(port, HALF);
  await until(() => acceptedSockets(port).length === 1);
  const [socket] = acceptedSockets(port);
  expect({ address: socket?.address, port: socket?.port }).toEqual({
    address: "127.0.0.1",
    port: client.socket.localPort,
  });
});

test("no connection is closed while there is room", async () => {
  const { port, connections } = serve({ all: 20, unproved: 20 });
  const clients = await crowd(port, 10, HALF);
  await until(() => acceptedSockets(port).length === 10);
  expect(connections.look()).toBe(10);
  expect(open(clients)).toBe(10);
});

test.each([HALF, asking("/unproven")])(
  "those go first that have proved nothing, and of them the first (%p)",
  async (text) => {
    const { port, connections } = serve({ all: 16, unproved: 16 });
    const known = await crowd(port, 6, asking("/known"));
    const waiting = await crowd(port, 4, asking("/held"));
    await until(() => answered(known));
    // Only a check records the order in which connections came.
    const early = await crowd(port, 6, text);
    if (text === asking("/unproven")) await until(() => answered(early));
    await until(() => acceptedSockets(port).length === 16);
    connections.look();
    const late = await crowd(port, 6, text);
    if (text === asking("/unproven")) await until(() => answered(late));
    await until(() => acceptedSockets(port).length === 22 - early.length + open(early));
    connections.look();
    await until(() => open(early) === 0);
    expect([open(known), open(waiting)]).toEqual([6, 4]);
    expect(open(late)).toBeGreaterThan(0);
  },
);

test("among proved connections, those without a request under way are closed first", async () => {
  const { port, connections } = serve({ all: 8, unproved: 8 });
  const waiting = await crowd(port, 6, asking("/held"));
  const idle = await crowd(port, 6, asking("/known"));
  await until(() => answered(idle));
  expect(connections.look()).toBe(7);
  await until(() => open(idle) === 1);
  expect(open(waiting)).toBe(6);
});

test("unproved connections have a bound of their own", async () => {
  const { port, connections } = serve({ all: 1_000, unproved: 8 });
  const known = await crowd(port, 20, asking("/known"));
  await until(() => answered(known));
  const unproven = await crowd(port, 12, HALF);
  await until(() => acceptedSockets(port).length === 32);
  expect(connections.look()).toBe(27);
  await until(() => open(unproven) === 7);
  expect(open(known)).toBe(20);
});

test("the first unproved connection stays when each of two other addresses has more connections", async () => {
  const { port, connections } = serve({ all: 1_000, unproved: 16 });
  const early = await come(port, HALF);
  await until(() => acceptedSockets(port).length === 1);
  connections.look();
  const flood: { isClosed: boolean }[] = [];
  for (let index = 0; index < 10; index += 1) {
    for (const address of ["127.0.0.2", "127.0.0.3"]) flood.push(await comeFrom(address, port, HALF));
  }
  for (let index = 0; index < 3; index += 1) flood.push(await comeFrom("127.0.0.4", port, HALF));
  await until(() => acceptedSockets(port).length === 24);
  expect(connections.look()).toBe(14);
  await until(() => flood.filter(({ isClosed }) => isClosed).length === 10);
  expect(early.isClosed).toBe(false);
  // The address with three connections has no more than its share either.
  expect(flood.slice(20).map(({ isClosed }) => isClosed)).toEqual([false, false, false]);
});

test("an owner of many connections loses its own, even busy connections, before another owner loses a silent connection", async () => {
  const { port, connections, asked } = serve({ all: 16, unproved: 16 });
  const victim = await crowd(port, 2, asking("/known?owner=victim"));
  await until(() => answered(victim));
  const flood = await crowd(port, 20, asking("/held?owner=flood"));
  await until(() => asked.length === 22);
  const last = await crowd(port, 1, asking("/known?owner=last"));
  await until(() => answered(last));
  expect(connections.look()).toBe(14);
  await until(() => open(flood) === 11);
  expect([open(victim), open(last)]).toEqual([2, 1]);
});

test("an owner that floods from one address keeps its earlier connection from another address", async () => {
  const { port, connections, asked } = serve({ all: 16, unproved: 16 });
  const early = await comeFrom("127.0.0.2", port, asking("/held?owner=same"));
  await until(() => asked.length === 1);
  const flood = await crowd(port, 20, asking("/held?owner=same"));
  await until(() => asked.length === 21);
  expect(connections.look()).toBe(14);
  await until(() => open(flood) === 13);
  expect(early.isClosed).toBe(false);
});

test("requests of a network with more than its share of many unproved connections are refused", async () => {
  const { port, connections, asked, refused } = serve({ all: 1_000, unproved: 32 });
  // A quarter of the bound may be unproved before anyone is refused.
  const flood = await crowd(port, 8, asking("/unproven"));
  await until(() => answered(flood));
  expect(refused).toEqual([]);
  await crowd(port, 1, asking("/unproven?late"));
  await until(() => asked.length === 9);
  expect(refused.length).toBe(1);
  // The other network has no more than its share, and a client that has proved itself is not counted.
  await comeFrom("127.0.0.2", port, asking("/unproven?other"));
  flood[0]?.socket.write(asking("/known"));
  await until(() => asked.length === 11);
  flood[0]?.socket.write(asking("/known?again"));
  await until(() => asked.length === 12);
  expect(refused.map((url) => new URL(url).search)).toEqual(["?late", ""]);
  for (const { socket } of flood.slice(1)) socket.end();
  await until(() => acceptedSockets(port).length === 3);
  connections.look();
  await crowd(port, 1, asking("/unproven?after"));
  await until(() => asked.length === 13);
  expect(refused.length).toBe(2);
});
