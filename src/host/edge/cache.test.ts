// What a real edge keeps of the answers of applications, and what it never keeps.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { passOf } from "../../../tests/support/engines/challenge.ts";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { withSocket } from "../../lib/unix-socket.ts";

const SHARED = { "cache-control": "public, max-age=60" };
const KEPT = { cacheVersion: "v1" };
const NAME = "a.localhost";

let lone: LoneEdge;
/** How often an application was asked. */
let asked: number;
/** The headers of its answers. */
let answered: Record<string, string>;

beforeEach(async () => {
  lone = await LoneEdge.start();
  asked = 0;
  answered = SHARED;
  for (const id of ["app", "other"]) lone.serve(id, (request) => answerOf(id, request));
  await lone.route("a", [NAME], "app", 30, KEPT);
});

afterEach(async () => await lone.close());

function answerOf(id: string, { url, headers }: Request): Response {
  asked += 1;
  const text = `${id} ${asked} ${new URL(url).pathname} ${headers.get("x-forwarded-host")} `;
  return new Response(text.padEnd(2_000, "."), { headers: { "content-type": "text/html", ...answered } });
}

interface Asked {
  name?: string;
  path?: string;
  method?: string;
  headers?: Record<string, string>;
}

/** What is answered, and whether an application was asked for it. */
async function ask({ name = NAME, path = "/", ...init }: Asked = {}) {
  const before = asked;
  const response = await lone.get(name, path, init);
  const text = (await response.text()).trimEnd().replace(/\.*$/, "").trim();
  return { status: response.status, text, headers: response.headers, isKept: asked === before };
}

/** The edge has seen a marked answer of the route. */
async function mark(name = NAME): Promise<void> {
  const present = answered;
  answered = SHARED;
  await ask({ name, path: "/marked" });
  answered = present;
}

/** Whether the second of two requests is answered by the cache. */
async function isKept(asking: Asked = {}): Promise<boolean> {
  await mark(asking.name);
  await ask(asking);
  return (await ask(asking)).isKept;
}

/** An answer in the encoding in which the edge sends it. */
async function raw(encoding: string): Promise<Response> {
  const headers = { host: NAME, "accept-encoding": encoding };
  return await fetch(`http://127.0.0.1:${lone.port}/`, { headers, decompress: false });
}

async function textOf(answer: Response): Promise<string> {
  const bytes = Buffer.from(await answer.arrayBuffer());
  return String(answer.headers.get("content-encoding") === "gzip" ? gunzipSync(bytes) : bytes);
}

async function rawPath(path: string): Promise<string> {
  return await lone.raw(`GET ${path} HTTP/1.1\r\nhost: ${NAME}\r\nconnection: close\r\n\r\n`);
}

describe("an answer", () => {
  test("that is marked for all clients is kept for GET and HEAD", async () => {
    await mark();
    const first = await ask();
    expect(first.isKept).toBe(false);
    const second = await ask();
    expect([second.isKept, second.text, second.headers.get("age")]).toEqual([true, first.text, "0"]);
    const head = await ask({ method: "HEAD" });
    expect([head.isKept, head.status, head.text]).toEqual([true, 200, ""]);
    expect((await ask({ path: "/?a=b" })).isKept).toBe(false);
    expect((await ask({ path: "/other" })).text).toContain("/other");
  });

  test.each(["public, max-age=60", "s-maxage=60", "max-age=1, PUBLIC", "S-MaxAge=9, max-age=1"])(
    "with Cache-Control: %s is kept",
    async (control) => {
      answered = { "cache-control": control };
      expect(await isKept()).toBe(true);
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
    answered = control === "" ? {} : { "cache-control": control };
    expect(await isKept()).toBe(false);
  });

  test("with a cookie, to a client with credentials, or encoded without a word is not kept", async () => {
    answered = { ...SHARED, "set-cookie": "a=b" };
    expect(await isKept({ path: "/cookie" })).toBe(false);
    answered = SHARED;
    const authorized = { path: "/authorized", headers: { authorization: "Bearer x" } };
    expect(await isKept(authorized)).toBe(false);
    expect((await ask({ path: "/authorized" })).isKept).toBe(false);
    expect((await ask(authorized)).isKept).toBe(false);
    answered = { ...SHARED, "content-encoding": "x-own" };
    expect(await isKept({ path: "/encoded" })).toBe(false);
  });

  test("that differs by a header is kept for requests with the same alone, or not at all", async () => {
    answered = { ...SHARED, vary: "Accept-Encoding" };
    expect(await isKept({ headers: { "accept-encoding": "identity" } })).toBe(true);
    answered = { ...SHARED, vary: "Accept-Language" };
    expect(await isKept({ path: "/language" })).toBe(false);
    answered = { ...SHARED, vary: "Cookie" };
    expect(await isKept({ path: "/cookie" })).toBe(false);
    answered = { ...SHARED, vary: "*" };
    expect(await isKept({ path: "/all" })).toBe(false);
  });

  test("is compressed for the clients that take it so, in each order", async () => {
    await mark();
    const answers = [await raw("gzip"), await raw("identity"), await raw("gzip")];
    expect(answers.map(({ headers }) => headers.get("content-encoding"))).toEqual(["gzip", null, "gzip"]);
    expect(new Set(await Promise.all(answers.map(textOf))).size).toBe(1);
    expect(asked).toBe(2);
  });

  test("is no longer kept after a request that changes what it shows", async () => {
    await mark();
    await ask();
    expect((await ask()).isKept).toBe(true);
    expect((await ask({ method: "POST" })).isKept).toBe(false);
    expect((await ask()).isKept).toBe(false);
  });

  test("to a GET with a body is not kept, nor answered by what is kept", async () => {
    await mark();
    const fat = `GET / HTTP/1.1\r\nhost: ${NAME}\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbody`;
    for (const _ of [1, 2]) expect(await lone.raw(fat)).toContain(`app ${asked} /`);
    expect((await ask()).isKept).toBe(false);
    expect((await ask()).isKept).toBe(true);
    expect(await lone.raw(fat)).not.toContain("age: ");
  });

  test("reaches the application with its own path", async () => {
    await mark();
    expect(await rawPath("/a%20b/%zz?x=%3C&y=\"'")).toContain("/a%20b/%zz");
    expect(await rawPath(`/${"l".repeat(3_000)}`)).toContain("HTTP/1.1 200");
  });
});

/** Answers each request with the same bytes, and ends the connection. @returns how often it was asked. */
function serveBytes(id: string, bytes: string): () => number {
  let count = 0;
  const data = (socket: Bun.Socket) => {
    count += 1;
    socket.end(bytes);
  };
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data } });
  lone.keep(server);
  lone.add(id, "running", server.port);
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
  await lone.route("a", [NAME], "bytes", 30, KEPT);
  for (const _request of [1, 2, 3]) await rawPath("/");
  expect(count()).toBe(isWhole ? 2 : 3);
});

function second(): number {
  return Math.floor(Date.now() / 1_000);
}

/** Has the edge forget a route, as it does after a while without requests. */
async function forget(route: string): Promise<void> {
  await withSocket(lone.engine.context.paths.socket, async (unix) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await Bun.connect({
      unix,
      socket: {
        open: (socket) => void socket.write(`clear table routes key ${route}\n`),
        data: () => {},
        close: () => resolve(),
      },
    });
    await promise;
  });
}

describe("what is kept", () => {
  test("is out of use once the edge has forgotten its route", async () => {
    const began = second();
    expect(await isKept()).toBe(true);
    await until("another second", () => second() > began + 1);
    await forget("a");
    await mark();
    expect((await ask()).isKept).toBe(false);
    expect((await ask()).isKept).toBe(true);
  });

  test("belongs to one name as the client has written it, and to one route", async () => {
    await lone.route("a", [NAME, "c.localhost"], "app", 30, KEPT);
    await lone.route("b", ["b.localhost"], "other", 30, KEPT);
    await mark();
    await mark("b.localhost");
    for (const name of [NAME, "c.localhost", "b.localhost", "A.localhost", `${NAME}:80`, `${NAME}.`]) {
      const first = await ask({ name });
      expect([name, first.isKept, first.text]).toEqual([name, false, expect.stringContaining(` ${name}`)]);
      expect((await ask({ name })).text).toBe(first.text);
    }
    for (const name of ["a.localhost/b.localhost", "a.localhost/x", "a.localhost@b.localhost"]) {
      const answer = await lone.raw(`GET / HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1.1 40[04]/);
    }
    // A name that moves takes nothing along.
    await lone.route("b", [NAME], "other", 30, KEPT);
    expect((await ask()).text).toContain("other ");
  });

  test("is out of use with another version, and with none", async () => {
    expect(await isKept()).toBe(true);
    await lone.route("a", [NAME], "other", 30, { cacheVersion: "v2" });
    expect((await ask()).text).toContain("other ");
    expect((await ask()).isKept).toBe(true);
    await lone.route("a", [NAME], "other", 30, {});
    expect((await ask()).isKept).toBe(false);
    expect((await ask()).isKept).toBe(false);
    // What was kept under the same version is as old as under another.
    await lone.route("a", [NAME], "app", 30, KEPT);
    expect((await ask()).isKept).toBe(false);
    await lone.route("a", [NAME], "app", 30, KEPT);
    expect((await ask()).isKept).toBe(true);
  });

  test("has the headers of the present policy", async () => {
    expect(await isKept()).toBe(true);
    await lone.route("a", [NAME], "app", 30, { ...KEPT, frame: "deny" });
    const { isKept: stillKept, headers } = await ask();
    expect([stillKept, headers.get("x-frame-options")]).toEqual([true, "DENY"]);
  });

  test("is for clients alone that the firewall lets pass", async () => {
    expect(await isKept()).toBe(true);
    await lone.route("a", [NAME], "app", 30, { ...KEPT, refusedBots: ["ai_crawler"], isUnderAttack: true });
    const challenged = await lone.get(NAME);
    expect(challenged.status).toBe(403);
    const cookie = passOf(await challenged.text());
    expect(await ask({ headers: { cookie } })).toMatchObject({ isKept: true, status: 200 });
    expect((await ask({ headers: { cookie, "user-agent": "GPTBot/1.2" } })).status).toBe(403);
  });

  test("answers no probe", async () => {
    expect(await isKept()).toBe(true);
    const before = asked;
    const seen = await lone.edge.probe({ name: NAME, path: "/", timeoutSeconds: 5 });
    expect([seen.status, asked]).toEqual([200, before + 1]);
  });

  test("is ended by a request that is held while its application starts", async () => {
    expect(await isKept()).toBe(true);
    const port = lone.applications.get("app")?.port ?? 0;
    lone.change("app", { state: "starting", port: 0 });
    await lone.route("b", ["b.localhost"], null);
    const held = ask({ method: "POST" });
    await until("it is held", () => lone.edge.waiting === 1);
    lone.change("app", { state: "running", port });
    expect((await held).status).toBe(200);
    await lone.route("b", ["b.localhost"], null);
    expect((await ask()).isKept).toBe(false);
    expect((await ask()).isKept).toBe(true);
  });

  test("answers for no application that sleeps", async () => {
    expect(await isKept()).toBe(true);
    const port = lone.applications.get("app")?.port ?? 0;
    const application = lone.add("app", "asleep", 0, () => lone.change("app", { state: "running", port }));
    await lone.route("a", [NAME], "app", 30, KEPT);
    expect((await ask()).isKept).toBe(false);
    expect(application.wakes).toBe(1);
  });
});
