// Crowds of requests over few connections at a real edge: neither an address nor an environment takes the room of others.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";

const [CONNECTIONS, PER_ADDRESS] = [200, 60];

/** What the edge bears of requests for each connection, and the part of what is free that one route may have. */
const [REQUESTS, SHARE] = [1.5 * CONNECTIONS, 2];

const ENVIRONMENTS = ["a", "b", "c", "d", "e", "f", "g", "h"];

let lone: LoneEdge;
let open: Map<string, number>;
let sessions: ClientHttp2Session[];
let refusals: number[];
/** Answers the requests that are held. */
let release: () => void;

beforeEach(async () => {
  lone = await LoneEdge.start({ maxConnections: CONNECTIONS, maxConnectionsPerAddress: PER_ADDRESS });
  open = new Map();
  sessions = [];
  refusals = [];
  const released = Promise.withResolvers<void>();
  release = released.resolve;
  for (const id of ENVIRONMENTS) {
    lone.serve(id, async ({ url }) => {
      if (new URL(url).pathname !== "/held") return new Response(id);
      open.set(id, (open.get(id) ?? 0) + 1);
      await released.promise;
      return new Response("released");
    });
    await lone.route(id, [`${id}.localhost`]);
  }
});

afterEach(async () => {
  for (const session of sessions) session.destroy();
  await lone.close();
});

/** A connection over HTTP/2 from an address of this machine. */
function sessionFrom(localAddress: string): ClientHttp2Session {
  const createConnection = () => connect({ host: "127.0.0.1", port: lone.port, localAddress });
  const session = connectHttp2(`http://127.0.0.1:${lone.port}`, { createConnection });
  session.on("error", () => {});
  sessions.push(session);
  return session;
}

/** Sends requests that their application does not answer. */
function hold(session: ClientHttp2Session, environment: string, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const stream = session.request({ ":path": "/held", ":authority": `${environment}.localhost` });
    stream.on("response", ({ ":status": status }) => {
      if (status !== 200) refusals.push(Number(status));
    });
    stream.on("error", () => {});
    stream.resume();
  }
}

/** How many requests the applications have. */
const held = () => [...open.values()].reduce((sum, count) => sum + count, 0);

async function statusFrom(localAddress: string, environment: string): Promise<number> {
  return await statusOf(sessionFrom(localAddress), environment);
}

async function statusOf(session: ClientHttp2Session, environment: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const stream = session.request({
    ":path": "/",
    ":authority": `${environment}.localhost`,
  });
  stream.on("response", (headers) => resolve(Number(headers[":status"])));
  stream.on("error", reject);
  stream.resume();
  return await promise;
}

/** How many files the edge has open. */
const files = () => readdirSync(`/proc/${lone.engine.pid}/fd`).length;

test.each([
  ["of environments with usual settings", null],
  ["of environments that limit requests", { level: "throttle", requestsPerMinute: 1_000 }],
] as const)("an address has no more requests %s open than it may have connections", async (_, rateLimit) => {
  const [first = "", second = ""] = ENVIRONMENTS;
  for (const id of [first, second]) await lone.route(id, [`${id}.localhost`], id, 30, { rateLimit });
  for (const count of [40, 40]) hold(sessionFrom("127.0.0.2"), first, count);
  await until("all are held or refused", () => held() + refusals.length === 80);
  // Two that come at the same moment may both be refused.
  expect(held()).toBeWithin(PER_ADDRESS - 5, PER_ADDRESS + 1);
  expect(new Set(refusals)).toEqual(new Set([429]));
  expect(await statusFrom("127.0.0.3", first)).toBe(200);
  release();
  const session = sessionFrom("127.0.0.2");
  await until("it has room again", async () => (await statusOf(session, second)) === 200);
});

test("one environment gets its share of the free requests and no more", async () => {
  const [first = "", second = ""] = ENVIRONMENTS;
  for (const last of [3, 4, 5, 6, 7, 8]) hold(sessionFrom(`127.0.0.${last}`), first, 45);
  await until("all are held or refused", () => held() + refusals.length === 270);
  expect(held()).toBeWithin(REQUESTS / (1 + SHARE) - 5, REQUESTS / (1 + SHARE) + 1);
  expect(new Set(refusals)).toEqual(new Set([503]));
  expect(await statusFrom("127.0.0.2", second)).toBe(200);
});

test("a probe is answered while an environment has its share of the requests", async () => {
  const { port } = lone.applications.get("a") ?? {};
  for (const address of ["127.0.0.2", "127.0.0.3", "127.0.0.4"]) hold(sessionFrom(address), "a", PER_ADDRESS);
  await until("some are refused", () => refusals.length > 0);
  expect(await statusFrom("127.0.0.5", "a")).toBe(503);
  expect(await lone.edge.probe({ name: "a.localhost", path: "/", timeoutSeconds: 10 })).toEqual({
    status: 200,
    port: port ?? 0,
  });
});

test("many environments and addresses leave room for others, and files for the edge", async () => {
  const last = ENVIRONMENTS.at(-1) ?? "";
  const crowd = ENVIRONMENTS.slice(0, -1);
  for (const [index, environment] of crowd.entries())
    for (const each of [1, 2]) hold(sessionFrom(`127.0.1.${2 * index + each}`), environment, 90);
  await until("all are held or refused", () => held() + refusals.length === 180 * crowd.length);
  expect(held()).toBeLessThan(REQUESTS);
  expect([429, 503]).toEqual(expect.arrayContaining([...new Set(refusals)]));
  expect(await statusFrom("127.0.0.2", last)).toBe(200);
  // The host still reaches its edge.
  await lone.edge.measureUse();
  expect(lone.edge.idleSeconds(last)).toBeLessThan(10);
  expect(files()).toBeLessThan(3 * CONNECTIONS);
});
