// The Host header: requests without the header, and values that are no host name.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import * as z from "zod/mini";
import { readJsonAs } from "../../src/contracts/read.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { partSchema, textOf } from "../support/wire/text-parts.ts";

const HOSTS = join(import.meta.dir, "../attack/data/hosts.json");

/** Values that are no host name, each as a text or as its parts. */
const hosts = readJsonAs(
  z.array(z.union([z.string(), z.array(partSchema)])),
  readFileSync(HOSTS, "utf8"),
  "The file hosts.json",
).map((host) => (typeof host === "string" ? host : textOf(host)));

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

/** Sends a request unchanged, and reads the whole answer. */
async function answerTo(...lines: string[]): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(Number(new URL(api.origin).port), "127.0.0.1", () => {
    socket.write(Buffer.from(`${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`, "latin1"));
  });
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  socket.on("close", () => resolve(text));
  socket.on("error", reject);
  const [head = "", ...body] = (await promise).split("\r\n\r\n");
  return { status: Number(/^HTTP\/1\.[01] (\d+)/.exec(head)?.[1]), body: body.join("\r\n\r\n") };
}

const authorization = () => `Authorization: Bearer ${api.token}`;

test.each([
  "/healthz",
  "/readyz?verbose",
  "/api/caches",
  "/api/caches?page[size]=1",
  "/docs",
  "/openapi.json",
])("%s is served to a client of HTTP/1.0 without Host", async (path) => {
  expect((await answerTo(`GET ${path} HTTP/1.0`, authorization())).status).toBe(200);
});

test("the links of an answer to a request without Host name this machine", async () => {
  const { body } = await answerTo("GET /api/caches?page[size]=1 HTTP/1.0", authorization());
  expect(JSON.parse(body).links.first).toStartWith("http://localhost/api/caches");
});

test("a request of HTTP/1.1 without Host is 400", async () => {
  expect((await answerTo("GET /healthz HTTP/1.1")).status).toBe(400);
});

test.each(hosts)("the Host %p is 400 with a message", async (host) => {
  const { status, body } = await answerTo("GET /healthz HTTP/1.1", `Host: ${host}`);
  expect(status).toBe(400);
  // The HTTP parser itself refuses some values, without a message.
  if (body !== "") expect(JSON.parse(body).message).toContain("Host header");
});

test("the Host 127.0.0.1:99999999 is refused with a message", async () => {
  const { body } = await answerTo("GET /api/caches HTTP/1.1", "Host: 127.0.0.1:99999999", authorization());
  expect(JSON.parse(body).message).toBe(
    "The Host header is not a host name or IP address, with or without a port.",
  );
});

test.each(["GET //evil.example/x HTTP/1.0", "GET //evil.example/x HTTP/1.1\r\nHost: localhost"])(
  "%p is an address that is not there",
  async (line) => {
    expect((await answerTo(line)).status).toBe(404);
  },
);

test.each([1, 2, 3, 4])("random bytes as Host cause no failure of the server (seed %d)", async (seed) => {
  let state = seed * 2_654_435_761;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const letters = "127.0.0.1localhost[]:%@/?#&;,\\\"'<>{}|^`~!$*()+= \t\x00\x01\x7f\x80\xff";
  for (let count = 0; count < 60; count += 1) {
    const host = Array.from({ length: next(24) }, () => letters[next(letters.length)]).join("");
    const { status } = await answerTo("GET /api/caches HTTP/1.1", `Host: ${host}`, authorization());
    expect(status, JSON.stringify(host)).toBeOneOf([200, 400, 421]);
  }
});
