// Bodies of requests to a real API: how large they may be, how long they may take, and what those on their way may hold.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { startApi, validCache, type TestApi } from "../../../tests/support/api/api.ts";
import { Peer } from "../../../tests/support/gateway/loop.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { Bodies } from "./bodies.ts";

const MEBIBYTE = 1024 ** 2;

let api: TestApi;
let peers: Peer[] = [];
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());
afterEach(() => {
  for (const peer of peers) peer.close();
  peers = [];
});

/** Sends a request with a body of which only the beginning comes. */
function begin(path: string, bytes: number, token?: string): Peer {
  const peer = Peer.connect(Number(new URL(api.origin).port));
  peers.push(peer);
  const authorization = token === undefined ? "" : `Authorization: Bearer ${token}\r\n`;
  peer.send(`POST ${path} HTTP/1.1\r\nHost: localhost\r\n${authorization}Content-Length: ${bytes}\r\n\r\n{`);
  return peer;
}

async function refusalOf(peer: Peer): Promise<string> {
  await until("it is refused, and its connection ended", () => peer.receiveAll().end === "closed");
  return peer.text;
}

test("a client that has proved nothing has small bodies", async () => {
  expect(await refusalOf(begin("/api/sessions", 16_385))).toMatch(
    /^HTTP\/1\.1 413 .*\{"message":"The body is larger than 16384 bytes\."\}$/s,
  );
  const body = new Blob(["x".repeat(20_000)]).stream();
  expect((await api.request("/api/sessions", { method: "POST", token: null, body })).status).toBe(413);
});

test("large bodies on their way have a bound for each organization", async () => {
  const [token, other] = [await api.newToken(["*"], "flooding"), await api.newToken(["*"], "other")];
  const begun = Array.from({ length: 17 }, () => begin("/api/caches", MEBIBYTE, token));
  const refused = () => begun.filter((peer) => peer.receiveAll().end === "closed");
  await until("a body too many is refused", () => refused().length === 1);
  expect(refused()[0]?.text).toMatch(
    /^HTTP\/1\.1 429 .*\r\nRetry-After: 1\r\n.*Too many large bodies are on their way/is,
  );
  const large = { ...validCache, unknown: "x".repeat(100_000) };
  expect((await api.request("/api/caches", { method: "POST", token: other, json: large })).status).toBe(201);
  expect((await api.request("/api/caches", { method: "POST", token, json: validCache })).status).toBe(201);
  for (const peer of begun) peer.close();
  await until("there is room again", async () => {
    return (await api.request("/api/caches", { method: "POST", token, json: large })).status === 201;
  });
});

test("a body that does not come to its end is given up, with its connection", async () => {
  const endless = new Request("http://localhost", { method: "POST", body: new ReadableStream() });
  expect(await new Bodies(1).receive(endless, "org-1").catch((error: unknown) => error)).toMatchObject({
    status: 408,
    message: "The body has not come within 1 s.",
    headers: { Connection: "close" },
  });
});
