// What a real edge keeps of the answers of applications, and what it never keeps.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { KEPT, MarkedAnswers, NAME, SHARED } from "../../../tests/support/engines/marked-answers.ts";

let answers: MarkedAnswers;

beforeEach(async () => {
  answers = await MarkedAnswers.start();
});

afterEach(async () => await answers.lone.close());

/** An answer in the encoding in which the edge sends it. */
async function raw(encoding: string): Promise<Response> {
  const headers = { host: NAME, "accept-encoding": encoding };
  return await fetch(`http://127.0.0.1:${answers.lone.port}/`, { headers, decompress: false });
}

async function textOf(answer: Response): Promise<string> {
  const bytes = Buffer.from(await answer.arrayBuffer());
  return String(answer.headers.get("content-encoding") === "gzip" ? gunzipSync(bytes) : bytes);
}

describe("an answer", () => {
  test("that is marked for all clients is kept for GET and HEAD", async () => {
    await answers.mark();
    const begunAtMs = Date.now();
    const first = await answers.ask();
    expect(first.isKept).toBe(false);
    const second = await answers.ask();
    expect([second.isKept, second.text]).toEqual([true, first.text]);
    // The edge counts whole seconds.
    const mostSeconds = Math.ceil((Date.now() - begunAtMs) / 1_000);
    expect(Number(second.headers.get("age") ?? Number.NaN)).toBeWithin(0, mostSeconds + 1);
    const head = await answers.ask({ method: "HEAD" });
    expect([head.isKept, head.status, head.text]).toEqual([true, 200, ""]);
    expect((await answers.ask({ path: "/?a=b" })).isKept).toBe(false);
    expect((await answers.ask({ path: "/other" })).text).toContain("/other");
  });

  test.each(["public, max-age=60", "s-maxage=60", "max-age=60, PUBLIC", "S-MaxAge=60, max-age=1"])(
    "with Cache-Control: %s is kept",
    async (control) => {
      answers.headers = { "cache-control": control };
      expect(await answers.isKept()).toBe(true);
    },
  );

  test.each([
    "max-age=60",
    "public",
    "private, max-age=60",
    "public, max-age=0",
    "public, max-age=60, s-maxage=0",
    "s-maxage=60, max-age=0",
    "public, no-store, max-age=60",
    "public, no-cache, max-age=60",
    "x-public, x-max-age=60",
    "",
  ])("with Cache-Control: %s is not kept", async (control) => {
    answers.headers = control === "" ? {} : { "cache-control": control };
    expect(await answers.isKept()).toBe(false);
  });

  test("with a cookie, to a client with credentials, or encoded without a word is not kept", async () => {
    answers.headers = { ...SHARED, "set-cookie": "a=b" };
    expect(await answers.isKept({ path: "/cookie" })).toBe(false);
    answers.headers = SHARED;
    const authorized = { path: "/authorized", headers: { authorization: "Bearer x" } };
    expect(await answers.isKept(authorized)).toBe(false);
    expect((await answers.ask({ path: "/authorized" })).isKept).toBe(false);
    expect((await answers.ask(authorized)).isKept).toBe(false);
    answers.headers = { ...SHARED, "content-encoding": "x-own" };
    expect(await answers.isKept({ path: "/encoded" })).toBe(false);
  });

  test("that differs by a header is kept for requests with the same alone, or not at all", async () => {
    answers.headers = { ...SHARED, vary: "Accept-Encoding" };
    expect(await answers.isKept({ headers: { "accept-encoding": "identity" } })).toBe(true);
    answers.headers = { ...SHARED, vary: "Accept-Language" };
    expect(await answers.isKept({ path: "/language" })).toBe(false);
    answers.headers = { ...SHARED, vary: "Cookie" };
    expect(await answers.isKept({ path: "/cookie" })).toBe(false);
    answers.headers = { ...SHARED, vary: "*" };
    expect(await answers.isKept({ path: "/all" })).toBe(false);
  });

  test("is compressed for the clients that take it so, in each order", async () => {
    await answers.mark();
    const three = [await raw("gzip"), await raw("identity"), await raw("gzip")];
    expect(three.map(({ headers }) => headers.get("content-encoding"))).toEqual(["gzip", null, "gzip"]);
    expect(new Set(await Promise.all(three.map(textOf))).size).toBe(1);
    expect(answers.asked).toBe(2);
  });

  test("is no longer kept after a request that changes what it shows", async () => {
    await answers.mark();
    await answers.ask();
    expect((await answers.ask()).isKept).toBe(true);
    expect((await answers.ask({ method: "POST" })).isKept).toBe(false);
    expect((await answers.ask()).isKept).toBe(false);
  });

  test("to a GET with a body is not kept, nor answers.headers by what is kept", async () => {
    await answers.mark();
    const fat = `GET / HTTP/1.1\r\nhost: ${NAME}\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbody`;
    for (const _ of [1, 2]) expect(await answers.lone.raw(fat)).toContain(`app ${answers.asked} /`);
    expect((await answers.ask()).isKept).toBe(false);
    expect((await answers.ask()).isKept).toBe(true);
    expect(await answers.lone.raw(fat)).not.toContain("age: ");
  });

  test("reaches the application with its own path", async () => {
    await answers.mark();
    expect(await answers.raw("/a%20b/%zz?x=%3C&y=\"'")).toContain("/a%20b/%zz");
    expect(await answers.raw(`/${"l".repeat(3_000)}`)).toContain("HTTP/1.1 200");
  });
});

/** Answers each request with the same bytes, and ends the connection. @returns how often it was answers.asked. */
function serveBytes(id: string, bytes: string): () => number {
  let count = 0;
  const data = (socket: Bun.Socket) => {
    count += 1;
    socket.end(bytes);
  };
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data } });
  answers.lone.keep(server);
  answers.lone.add(id, "running", server.port);
  return () => count;
}

test.each([
  ["chunked", "transfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n", true],
  ["of a length", "content-length: 4\r\n\r\nabcd", true],
  ["that ends too early", "content-length: 9\r\n\r\nabcd", false],
  ["whose chunks break off", "transfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n", false],
  ["whose end nobody can tell", "connection: close\r\n\r\nabcd", false],
])("an answer %s is kept only when it is whole", async (_, rest, isWhole) => {
  const count = serveBytes("bytes", `HTTP/1.1 200 OK\r\ncache-control: public, max-age=60\r\n${rest}`);
  await answers.lone.route("a", [NAME], "bytes", 30, KEPT);
  for (const _request of [1, 2, 3]) await answers.raw("/");
  expect(count()).toBe(isWhole ? 2 : 3);
});
