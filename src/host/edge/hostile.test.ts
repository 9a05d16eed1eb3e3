// Hostile clients at a real edge: slow, oversized and ambiguous requests, and more connections than one client may have.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";

const PER_ADDRESS = 200;

let lone: LoneEdge;
let seen: string[];

beforeEach(async () => {
  lone = await LoneEdge.start({ maxConnectionsPerAddress: PER_ADDRESS });
  seen = [];
  lone.serve("a", async (request) => {
    seen.push(`${request.method} ${new URL(request.url).pathname} ${(await request.text()).length}`);
    return new Response("ok");
  });
  await lone.route("a", ["a.localhost"]);
});

afterEach(async () => await lone.close());

/** Requests whose end two servers could see in different places, or whose name is ambiguous. */
const AMBIGUOUS: Record<string, string[]> = {
  "two lengths": ["content-length: 4", "content-length: 5"],
  "an empty length": ["content-length: ", "content-length: 4"],
  "a negative length": ["content-length: -1"],
  "a length with a sign": ["content-length: +4"],
  "an unknown coding": ["transfer-encoding: xchunked"],
  "chunked before another coding": ["transfer-encoding: chunked, identity"],
  "two codings": ["transfer-encoding: chunked", "transfer-encoding: chunked"],
  "a blank before the colon": ["transfer-encoding : chunked"],
  "another name": ["host: b.localhost"],
};

describe("an ambiguous request", () => {
  test.each(Object.keys(AMBIGUOUS))("with %s smuggles no second request", async (kind) => {
    const headers = ["host: a.localhost", ...(AMBIGUOUS[kind] ?? [])].join("\r\n");
    const smuggled = "GET /smuggled HTTP/1.1\r\nhost: a.localhost\r\n\r\n";
    const answer = await lone.raw(`POST /first HTTP/1.1\r\n${headers}\r\n\r\n0\r\n\r\n${smuggled}`);
    expect(answer).toMatch(/^HTTP\/1\.[01] (400|422|501)/);
    expect(answer.match(/HTTP\/1\.[01] \d/g)).toHaveLength(1);
    expect(seen.filter((each) => each.includes("smuggled"))).toEqual([]);
  });

  test("with a length and a coding reaches the application with the coding alone, and ends the connection", async () => {
    const smuggled = "GET /smuggled HTTP/1.1\r\nhost: a.localhost\r\n\r\n";
    const answer = await lone.raw(
      "POST /first HTTP/1.1\r\nhost: a.localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n" +
        `0\r\n\r\n${smuggled}`,
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g) ?? []).toHaveLength(1);
    expect(seen.filter((each) => each.includes("smuggled"))).toEqual([]);
  });

  test("with a header over two lines has that header alone", async () => {
    const folded = "host: a.localhost\r\nx-a: b\r\n transfer-encoding: chunked";
    const smuggled = "GET /smuggled HTTP/1.1\r\nhost: a.localhost\r\n\r\n";
    const answer = await lone.raw(`GET /first HTTP/1.1\r\n${folded}\r\n\r\n0\r\n\r\n${smuggled}`);
    // What follows is no body, and no request either.
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
    expect(seen).toEqual(["GET /first 0"]);
  });

  test("with a target of another name than its host is refused", async () => {
    const answer = await lone.raw("GET http://b.localhost/ HTTP/1.1\r\nhost: a.localhost\r\n\r\n");
    expect(answer).toStartWith("HTTP/1.1 400");
    expect(seen).toEqual([]);
  });

  test("with control characters in its target or a header is refused", async () => {
    for (const request of [
      "GET /a\x01b HTTP/1.1\r\nhost: a.localhost\r\n\r\n",
      "GET / HTTP/1.1\r\nhost: a.localhost\r\nx-a: b\x00c\r\n\r\n",
      "GET / HTTP/1.1\r\nhost: a.localhost\r\nx-a: b\rset-cookie: c\r\n\r\n",
    ])
      expect(await lone.raw(request)).toStartWith("HTTP/1.1 400");
    expect(seen).toEqual([]);
  });
});

test("oversized headers, too many of them and a long target are refused", async () => {
  const long = "x".repeat(40_000);
  const many = Array.from({ length: 500 }, (_, index) => `x-${index}: y`).join("\r\n");
  for (const head of [`GET / HTTP/1.1\r\nx: ${long}`, `GET /${long} HTTP/1.1`, `GET / HTTP/1.1\r\n${many}`]) {
    expect(await lone.raw(`${head}\r\nhost: a.localhost\r\n\r\n`)).toMatch(/^HTTP\/1\.[01] 4\d\d/);
  }
  expect(seen).toEqual([]);
  expect((await lone.get("a.localhost")).status).toBe(200);
});

test("a client that sends its headers slowly is sent away after some seconds, and others are served meanwhile", async () => {
  const slow = await opened(lone.port);
  const closed = new Promise<void>((resolve) => slow.once("close", () => resolve()));
  slow.write("GET / HTTP/1.1\r\nhost: a.localhost\r\n");
  const drip = setInterval(() => slow.write("x: y\r\n"), 200);
  const startedMs = performance.now();
  expect((await lone.get("a.localhost")).status).toBe(200);
  await closed;
  clearInterval(drip);
  expect(performance.now() - startedMs).toBeLessThan(30_000);
});

test("one address gets no more connections than its share, and gets them again when it has left", async () => {
  const clients: Socket[] = [];
  let closed = 0;
  for (let count = 0; count < 2_000; count += 1) {
    const client = await opened(lone.port, () => void (closed += 1));
    client.resume();
    clients.push(client);
  }
  await until("the excess is sent away", () => closed >= 2_000 - PER_ADDRESS);
  for (const client of clients) client.destroy();
  await until("the address has room again", async () => {
    const response = await lone.get("a.localhost").catch(() => null);
    return response?.status === 200;
  });
});

async function opened(port: number, onClose: () => void = () => {}): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.once("close", onClose);
  socket.on("error", () => {});
  await new Promise<void>((resolve) => {
    socket.once("connect", () => resolve());
    socket.once("close", () => resolve());
  });
  return socket;
}
