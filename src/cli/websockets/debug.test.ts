// The command that watches an application, against an API that sends a script.
import { afterEach, expect, test } from "bun:test";
import type { WebsocketDebugEvent } from "../../sdk/index.ts";
import { closeServers, failureOf, one, serve } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";
import { debugLine } from "./debug-lines.ts";
import { application, cluster, id, path } from "./test-support.ts";

afterEach(closeServers);

const at = new Date(2026, 2, 15, 12, 0, 0, 7).toISOString();
const main = application();

const messages: WebsocketDebugEvent[] = [
  { type: "state", at, state: "running" },
  { type: "connected", at, socket_id: "1.2", origin: "https://example.com" },
  { type: "subscribed", at, socket_id: "1.2", channel: "news", user_id: null, subscriptions: 1 },
  { type: "published", at, channel: "news", event: "hello", data: "{}", data_bytes: 2, subscriptions: 2 },
];

function api(): string {
  const text = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join("");
  return serve({
    [`GET ${path}`]: one(cluster(), 200, [main]),
    [`GET /websocket-applications/${main.id}/debug`]: () => new Response(`retry: 1000\n\n:\n\n${text}`),
  });
}

async function run(...options: string[]): Promise<string> {
  const io = fakeIo();
  await runCommand(io, api(), "websockets", "debug", id, ...options);
  return io.stdout;
}

test("each report is printed on a line, and the command ends after the given number of reports", async () => {
  expect(await run("--count", "4")).toBe(
    [
      "12:00:00.007  state  running",
      "12:00:00.007  connected  1.2  https://example.com",
      "12:00:00.007  subscribed  news  1.2  (1 subscriber)",
      "12:00:00.007  published  news  hello  {}  (2 subscribers)\n",
    ].join("\n"),
  );
});

test("only messages of the given types are printed, for programs as the API sends them", async () => {
  const text = await run("--type", "connected, published", "--json", "--count", "2");
  expect(
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([messages[1], messages[3]]);
});

test("Ctrl-C ends it, which is a success", async () => {
  const io = fakeIo({
    out(text) {
      io.stdout += text;
      io.interrupt();
    },
  });
  await runCommand(io, api(), "websockets", "debug", id);
  expect(io.stdout).toStartWith("12:00:00.007  state  running\n");
});

test("a refusal ends it with the reason", async () => {
  const url = serve({
    [`GET ${path}`]: one(cluster(), 200, [main]),
    [`GET /websocket-applications/${main.id}/debug`]: () =>
      Response.json({ message: "This action is unauthorized." }, { status: 403 }),
  });
  const failure = await failureOf(runCommand(fakeIo(), url, "websockets", "debug", id));
  expect(JSON.stringify(failure)).toContain("unauthorized");
});

test.each([
  [{ type: "omitted", at, count: 12 }, "omitted  12 more"],
  [
    { type: "refused", at, socket_id: null, channel: null, code: 4004, reason: "Over quota" },
    "refused  Over quota  (code 4004)",
  ],
  [
    { type: "webhook_failed", at, host: "a.example", events: 1, reason: "HTTP 500" },
    "webhook_failed  a.example  1 event  HTTP 500",
  ],
  [
    { type: "member_added", at, channel: "presence-a", user_id: "\u001b[31m" },
    String.raw`member_added  presence-a  \u001b[31m`,
  ],
  [
    {
      type: "client_event",
      at,
      channel: "private-a",
      socket_id: "1.2",
      user_id: null,
      event: "client-x",
      data: "ab",
      data_bytes: 9,
    },
    "client_event  private-a  client-x  ab… (9 bytes)  (from 1.2)",
  ],
] as [WebsocketDebugEvent, string][])("%p is a line without control characters", (event, text) => {
  expect(debugLine(event)).toBe(`12:00:00.007  ${text}\n`);
});
