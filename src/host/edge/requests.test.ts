// Requests at a real edge: they reach the right application, with what the edge says of their client.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { LoneEdge, rawExchange } from "../../../tests/support/engines/lone-edge.ts";
import { answerOf, named } from "../../../tests/support/engines/named-application.ts";

let lone: LoneEdge;

beforeEach(async () => {
  lone = await LoneEdge.start();
});

afterEach(async () => await lone.close());

describe("a request", () => {
  test("reaches the application of its name, whatever its case, port or last dot", async () => {
    lone.serve("a", named("a"));
    lone.serve("b", named("b"));
    await lone.route("a", ["a.localhost", "www.a.example"]);
    await lone.route("b", ["b.localhost"]);
    for (const host of ["a.localhost", "A.LOCALHOST", "a.localhost:8080", "a.localhost.", "www.a.example"])
      expect(await answerOf(lone.get(host, "/path?x=1"))).toMatchObject({ name: "a", url: "/path" });
    // The connections to applications are kept, and must not be mixed up.
    for (let round = 0; round < 50; round += 1) {
      const name = round % 2 === 0 ? "a" : "b";
      expect((await answerOf(lone.get(`${name}.localhost`))).name).toBe(name);
    }
  });

  test("has the client's address, and nothing that the client says of it", async () => {
    lone.serve("a", named("a"));
    await lone.route("a", ["a.localhost"]);
    const forged = {
      "x-forwarded-for": "6.6.6.6",
      "x-forwarded-host": "bank.example",
      "x-forwarded-prefix": "/admin",
      "x-original-url": "/admin",
      "x-real-ip": "6.6.6.6",
      x_forwarded_for: "6.6.6.6",
      forwarded: "for=6.6.6.6",
      proxy: "http://6.6.6.6",
      "x-request-id": "mine",
      accept: "*/*",
    };
    const { headers } = await answerOf(lone.get("a.localhost", "/", { headers: forged }));
    expect(headers).toMatchObject({
      "x-forwarded-for": "127.0.0.1",
      "x-real-ip": "127.0.0.1",
      "x-forwarded-proto": "http",
      "x-forwarded-host": "a.localhost",
      "x-forwarded-port": String(lone.port),
      accept: "*/*",
    });
    expect(JSON.stringify(headers)).not.toContain("6.6.6.6");
    for (const name of ["x-forwarded-prefix", "x-original-url", "x_forwarded_for", "forwarded", "proxy"])
      expect(headers).not.toHaveProperty([name]);
    expect(headers["x-request-id"]).toMatch(/^[\da-f-]{36}$/);
  });

  test("has an id that its answer has as well", async () => {
    let seen: string | null = null;
    lone.serve("a", (request) => {
      seen = request.headers.get("x-request-id");
      return new Response("ok", { headers: { "x-request-id": "of the application" } });
    });
    await lone.route("a", ["a.localhost"]);
    const response = await lone.get("a.localhost");
    expect(seen).not.toBeNull();
    expect(response.headers.get("x-request-id")).toBe(seen);
  });

  test("of an unknown name gets a page with 404, and reaches no application", async () => {
    lone.serve("a", named("a"));
    await lone.route("a", ["a.localhost"]);
    for (const host of ["other.localhost", "a.localhost.evil.example", "localhost", "127.0.0.1", "[::1]"]) {
      const response = await lone.get(host);
      expect([host, response.status]).toEqual([host, 404]);
      expect(await response.text()).toContain("nothing may have been deployed to it yet");
    }
    const bare = await lone.raw("GET / HTTP/1.0\r\n\r\n");
    expect(bare).toStartWith("HTTP/1.1 404");
  });

  test("gets a page that says why when its application is not there, breaks off or takes too long", async () => {
    await lone.route("none", ["none.localhost"], null);
    const none = await lone.get("none.localhost");
    expect([none.status, none.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await none.text()).toContain(`Request ${none.headers.get("x-request-id")}`);

    const broken = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: (socket) => void socket.end("no HTTP\r\n\r\n") },
    });
    lone.keep(broken);
    lone.add("broken", "running", broken.port);
    await lone.route("broken", ["broken.localhost"]);
    const bad = await lone.get("broken.localhost", "/", { method: "POST", body: "x" });
    expect([bad.status, await bad.text()]).toEqual([502, expect.stringContaining("broke off its answer")]);

    lone.serve("slow", () => new Promise<Response>(() => {}));
    await lone.route("slow", ["slow.localhost"], "slow", 1);
    const late = await lone.get("slow.localhost");
    expect([late.status, await late.text()]).toEqual([
      504,
      expect.stringContaining("did not answer in time"),
    ]);
  });

  test("keeps the application's own errors as they are", async () => {
    lone.serve("a", () => new Response("mine", { status: 503 }));
    await lone.route("a", ["a.localhost"]);
    const response = await lone.get("a.localhost");
    expect([response.status, await response.text()]).toEqual([503, "mine"]);
  });

  test("may have a body of any size, and an answer too", async () => {
    const megabytes = new Uint8Array(30 * 1024 ** 2).fill(7);
    lone.serve("a", named("a"));
    lone.serve("big", () => new Response(megabytes));
    await lone.route("a", ["a.localhost"]);
    await lone.route("big", ["big.localhost"]);
    const sent = await answerOf(lone.get("a.localhost", "/", { method: "PUT", body: megabytes }));
    expect(sent.length).toBe(megabytes.length);
    expect((await (await lone.get("big.localhost")).arrayBuffer()).byteLength).toBe(megabytes.length);
  });

  test("gets a compressed answer when it accepts one and the application sent text", async () => {
    const text = "all work and no play ".repeat(500);
    lone.serve("a", ({ url }) => {
      const type = url.endsWith("/image") ? "image/png" : "text/html; charset=utf-8";
      return new Response(text, { headers: { "content-type": type } });
    });
    await lone.route("a", ["a.localhost"]);
    const encodingOf = async (path: string, accept: string) => {
      const headers = { "accept-encoding": accept };
      const response = await lone.get("a.localhost", path, { headers });
      expect(await response.text()).toBe(text);
      return response.headers.get("content-encoding");
    };
    expect(await encodingOf("/", "gzip")).toBe("gzip");
    expect(await encodingOf("/", "identity")).toBeNull();
    expect(await encodingOf("/image", "gzip")).toBeNull();
  });

  test("gets server-sent events as they are sent", async () => {
    const next = Promise.withResolvers<void>();
    lone.serve("a", () => {
      const events = eventsAround(next.promise);
      return new Response(events as unknown as ReadableStream, {
        headers: { "content-type": "text/event-stream" },
      });
    });
    await lone.route("a", ["a.localhost"]);
    const { body } = await lone.get("a.localhost", "/", { headers: { "accept-encoding": "gzip" } });
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    expect(Buffer.from((await reader.read()).value ?? "").toString()).toBe("data: one\n\n");
    next.resolve();
    expect(Buffer.from((await reader.read()).value ?? "").toString()).toBe("data: two\n\n");
  });

  test("may become a WebSocket", async () => {
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, own) => (own.upgrade(request) ? undefined : new Response("no", { status: 400 })),
      websocket: { message: (socket, message) => void socket.send(`echo ${message}`) },
    });
    lone.keep(server);
    lone.add("a", "running", server.port ?? 0);
    await lone.route("a", ["a.localhost"]);
    const options = { headers: { host: "a.localhost" } } as unknown as string[];
    const socket = new WebSocket(`ws://127.0.0.1:${lone.port}/`, options);
    const { promise, resolve } = Promise.withResolvers<string>();
    socket.addEventListener("open", () => socket.send("hello"));
    socket.addEventListener("message", ({ data }) => resolve(String(data)));
    expect(await promise).toBe("echo hello");
    // A change of other routes leaves it alone.
    await lone.route("b", ["b.localhost"], null);
    const again = Promise.withResolvers<string>();
    socket.addEventListener("message", ({ data }) => again.resolve(String(data)));
    socket.send("again");
    expect(await again.promise).toBe("echo again");
    socket.close();
  });

  test("may come over HTTP/2 without TLS", async () => {
    lone.serve("a", named("a"));
    await lone.route("a", ["a.localhost"]);
    const session = connect(`http://127.0.0.1:${lone.port}`);
    const answer = await overHttp2(session, "a.localhost");
    expect(JSON.parse(answer)).toMatchObject({ name: "a", headers: { "x-forwarded-proto": "http" } });
    session.close();
  });

  test("may become a WebSocket over HTTP/2", async () => {
    lone.serve("a", async (request) => Response.json(Object.fromEntries(request.headers)));
    await lone.route("a", ["a.localhost"]);
    const session = connect(`http://127.0.0.1:${lone.port}`);
    await new Promise<void>((resolve) => session.once("remoteSettings", () => resolve()));
    const method = { ":method": "CONNECT", ":protocol": "websocket", ":scheme": "http" };
    const headers = { ...method, ":authority": "a.localhost", ":path": "/", "sec-websocket-version": "13" };
    const text = await textOf(session.request(headers, { endStream: false }));
    expect(JSON.parse(text)).toMatchObject({ connection: "upgrade", upgrade: "websocket" });
    session.close();
  });
});

/** Two server-sent events, the second after the promise. */
async function* eventsAround(pause: Promise<void>) {
  yield "data: one\n\n";
  await pause;
  yield "data: two\n\n";
}

async function overHttp2(session: ClientHttp2Session, authority: string): Promise<string> {
  return await textOf(session.request({ ":authority": authority, ":path": "/" }));
}

async function textOf(stream: ClientHttp2Stream): Promise<string> {
  let text = "";
  stream.setEncoding("utf8");
  for await (const part of stream) text += String(part);
  return text;
}

test("a request in two pieces is one request", async () => {
  lone.serve("a", named("a"));
  await lone.route("a", ["a.localhost"]);
  const text = "POST /x HTTP/1.1\r\nhost: a.localhost\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello";
  expect(await rawExchange(lone.port, text)).toContain('"length":5');
});
