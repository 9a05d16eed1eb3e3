// Watching a WebSocket application by the API: who may, how many, over sleep and lost servers; and test events.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { revokeToken } from "../../src/api/auth/tokens.ts";
import type { Observation } from "../../src/contracts/observation.ts";
import type { DebugEvent } from "../../src/contracts/realtime-debug.ts";
import { PublicError } from "../../src/lib/errors.ts";
import type { WebsocketDebugEvent } from "../../src/resources/websockets/schema.ts";
import { PilviClient } from "../../src/sdk/index.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { APPLICATIONS, newWebSocketCluster } from "../support/api/websockets-api.ts";
import { until } from "../support/pilvi/pilvi.ts";

const AT = "2026-03-15T08:00:00.000Z";

let api: TestApi;
let serverId: string;
let id: string;
/** Ends the reports of the server. */
let endReports: () => void = () => undefined;
let report: (event: DebugEvent) => void;
let opened = 0;
const ends: AbortController[] = [];

beforeAll(async () => {
  api = await startApi();
  const made = await newWebSocketCluster(api);
  ({ id: serverId } = made);
  ({ id } = made.application);
  api.host.driver.debug = reports;
});
afterEach(() => {
  for (const end of ends.splice(0)) end.abort();
});
afterAll(() => api.stop());

/** The reports of a server that runs, as the test makes them. */
async function* reports(server: string, _part: string, signal: AbortSignal): AsyncGenerator<DebugEvent> {
  if (api.host.observedStates.of(server)?.state !== "running") throw new PublicError("It does not run.");
  opened += 1;
  const waiting: DebugEvent[] = [{ type: "watching", at: AT }];
  const over = new AbortController();
  let rung = Promise.withResolvers<void>();
  report = (event) => {
    waiting.push(event);
    rung.resolve();
  };
  endReports = () => {
    over.abort();
    rung.resolve();
  };
  signal.addEventListener("abort", endReports);
  while (!over.signal.aborted) {
    yield* waiting.splice(0);
    await rung.promise;
    rung = Promise.withResolvers<void>();
  }
}

function observe(state: Observation["state"]): void {
  api.host.observedStates.note({
    id: serverId,
    state,
    since: AT,
    engine: null,
    limits: null,
    lastError: null,
    crashes: 0,
    sleep: null,
  });
  if (state !== "running") endReports();
}

/** Watches with the SDK. @returns the messages so far, to which more are added. */
function watch(token = api.token): { seen: WebsocketDebugEvent[]; error: unknown; end: AbortController } {
  const watching = {
    seen: [] as WebsocketDebugEvent[],
    error: undefined as unknown,
    end: new AbortController(),
  };
  ends.push(watching.end);
  const client = new PilviClient({ url: api.origin, token });
  const read = async () => {
    const messages = client.websockets.applications(serverId).debug(id, { signal: watching.end.signal });
    for await (const message of messages) watching.seen.push(message);
  };
  void read().catch((error: unknown) => (watching.error = error));
  return watching;
}

const statesOf = (seen: WebsocketDebugEvent[]) =>
  seen.flatMap((each) => (each.type === "state" ? [each.state] : []));

const published: DebugEvent = {
  type: "published",
  at: AT,
  channel: "news",
  subscriptions: 2,
  event: "hello",
  data: "{}",
  dataBytes: 2,
};

describe("a watched application", () => {
  test("reports in the words of the API", async () => {
    observe("running");
    const { seen } = watch();
    await until("it is watched", () => statesOf(seen).includes("running"));
    report(published);
    report({ type: "webhookFailed", at: AT, host: "example.com", events: 3, reason: "HTTP 500" });
    await until("both came", () => seen.some(({ type }) => type === "webhook_failed"));
    expect(seen.filter(({ type }) => type !== "state")).toEqual([
      {
        type: "published",
        at: AT,
        channel: "news",
        subscriptions: 2,
        event: "hello",
        data: "{}",
        data_bytes: 2,
      },
      { type: "webhook_failed", at: AT, host: "example.com", events: 3, reason: "HTTP 500" },
    ]);
    const shown = await (await api.request(`${APPLICATIONS}/${id}/debug`)).json();
    expect(shown).toEqual({
      data: { state: "running", watchers: 1, max_watchers: 10, events_per_second: 50 },
    });
  });

  test("is not woken: the state says that it sleeps, and reports go on when it is awake", async () => {
    observe("asleep");
    const before = opened;
    const { seen } = watch();
    await until("it says so", () => statesOf(seen).includes("asleep"));
    expect(opened).toBe(before);
    observe("running");
    await until("it goes on", () => statesOf(seen).at(-1) === "running");
    report(published);
    await until("the event came", () => seen.some(({ type }) => type === "published"));
    observe("asleep");
    await until("it says so again", () => statesOf(seen).at(-1) === "asleep");
  });

  test("is followed once for all its watchers, and not any more after the last", async () => {
    observe("running");
    const before = opened;
    const [one, two] = [watch(), watch()];
    for (const { seen } of [one, two]) {
      await until("it is watched", () => statesOf(seen).at(-1) === "running");
    }
    expect(opened).toBe(before + 1);
    report(published);
    for (const { seen } of [one, two]) {
      await until("the event came", () => seen.some(({ type }) => type === "published"));
    }
    for (const { end } of [one, two]) end.abort();
    await until("nobody watches", async () => (await watchers()) === 0);
  });

  test("ends its streams when the token is revoked", async () => {
    observe("running");
    const token = await api.newToken(["websockets:credentials"]);
    const [row] = await api.db<{ id: string }[]>`select id from tokens order by id desc limit 1`;
    const watching = watch(token);
    await until("it is watched", () => statesOf(watching.seen).includes("running"));
    await revokeToken(api.db, row?.id ?? "");
    await until("the client is refused", () => {
      report(published);
      return (watching.error as { status?: number } | undefined)?.status === 401;
    });
  });

  test("takes ten watchers, and an eleventh when one has left", async () => {
    const all = Array.from({ length: 10 }, () => watch());
    await until("ten watch", async () => (await watchers()) === 10);
    const refused = await api.request(`${APPLICATIONS}/${id}/debug?follow`);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "15"]);
    all.pop()?.end.abort();
    await until("there is room", async () => (await watchers()) === 9);
    const next = watch();
    await until("it watches", () => next.seen.length > 0);
  });
});

async function watchers(): Promise<number> {
  const response = await api.request(`${APPLICATIONS}/${id}/debug`);
  return ((await response.json()) as { data: { watchers: number } }).data.watchers;
}

describe("access", () => {
  const requests: [string, RequestInit & { json?: unknown }][] = [
    ["/debug", {}],
    ["/debug?follow", {}],
    ["/debug/events", { json: { channel: "news", name: "hello" } }],
  ];

  test.each(requests)("%s needs the ability to see credentials", async (path, init) => {
    const token = await api.newToken(["websockets:read", "websockets:write"]);
    const response = await api.request(`${APPLICATIONS}/${id}${path}`, { ...init, token });
    expect([response.status, await response.text()]).toEqual([
      403,
      expect.stringContaining("websockets:credentials"),
    ]);
  });

  test.each(requests)("%s of another organization's application is 404", async (path, init) => {
    const token = await api.newToken(["*"], "others");
    expect((await api.request(`${APPLICATIONS}/${id}${path}`, { ...init, token })).status).toBe(404);
  });
});

describe("a test event", () => {
  test.each([
    ["no channel", { name: "hello" }, "channel"],
    ["no name", { channel: "news" }, "name"],
    ["a space in its channel", { channel: "two words", name: "hello" }, "channel"],
    ["an encrypted channel", { channel: "private-encrypted-news", name: "hello" }, "channel"],
    ["the channel of no user", { channel: "#server-to-user-", name: "hello" }, "channel"],
    ["a long channel", { channel: "n".repeat(201), name: "hello" }, "channel"],
    ["an empty name", { channel: "news", name: "" }, "name"],
    ["a long name", { channel: "news", name: "n".repeat(201) }, "name"],
    ["an object as data", { channel: "news", name: "hello", data: { text: "moi" } }, "data"],
    ["too much data", { channel: "news", name: "hello", data: "ä".repeat(5_121) }, "data"],
  ])("with %s is refused", async (_fault, json, field) => {
    const response = await api.request(`${APPLICATIONS}/${id}/debug/events`, { json });
    const { errors } = (await response.json()) as { errors: object };
    expect([response.status, Object.keys(errors)]).toEqual([422, [field]]);
  });

  test("is 503 while the cluster does not answer", async () => {
    const token = await api.newToken(["*"]);
    const json = { channel: "news", name: "hello" };
    const response = await api.request(`${APPLICATIONS}/${id}/debug/events`, { json, token });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  });
});
