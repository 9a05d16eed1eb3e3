// What the host asks of a realtime server, and how it reads the answers.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RealtimeSpec } from "../../contracts/instance-spec.ts";
import type { EngineContext } from "../engine.ts";
import { applySpec, dismiss, figures, isReady, reading } from "./control.ts";
import { connectionsWithin } from "./index.ts";

let folder: string;
let context: EngineContext<RealtimeSpec>;
let asked: string[];
let answer: () => Response;
let server: { stop(force: boolean): Promise<void> };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-"));
  const socket = join(folder, "control.sock");
  const spec = { id: "ws-1", maxConnections: 100, applications: [] };
  context = {
    spec,
    limits: { maxConnections: 90 },
    paths: { socket },
  } as unknown as EngineContext<RealtimeSpec>;
  asked = [];
  server = Bun.serve({
    unix: socket,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      asked.push(`${request.method} ${pathname}${search} ${await request.text()}`.trim());
      return answer();
    },
  });
});

afterEach(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true });
});

test("a configuration is sent whole, with the limit in force", async () => {
  answer = () => new Response(null, { status: 204 });
  await applySpec(context);
  expect(asked).toEqual(['PUT /v3/config {"maxConnections":90,"applications":[]}']);
});

test("clients are dismissed by a configuration without applications", async () => {
  answer = () => new Response(null, { status: 204 });
  const spec = { ...context.spec, applications: [{ id: "wsa-1" }] } as unknown as RealtimeSpec;
  await dismiss({ ...context, spec });
  expect(asked).toEqual(['PUT /v3/config {"maxConnections":90,"applications":[]}']);
});

test("a server of another version is refused as such", async () => {
  answer = () => Response.json({ message: "There is nothing here." }, { status: 404 });
  await expect(applySpec(context)).rejects.toThrow("is of another version than what asks it");
});

test("a refusal carries the server's own message, and a refusal without a message carries a general sentence", async () => {
  answer = () => Response.json({ message: "Port 20002 is in use." }, { status: 500 });
  await expect(applySpec(context)).rejects.toThrow("Port 20002 is in use.");
  answer = () => new Response("<html>", { status: 502 });
  await expect(applySpec(context)).rejects.toThrow("refused an order");
});

test("the limit of connections stays below the limit of open files", () => {
  expect(connectionsWithin(20_000, 10_000)).toBe(10_000);
  expect(connectionsWithin(1_024, 2_000)).toBe(896);
  expect(connectionsWithin(100, 2_000)).toBe(1);
});

test("a server is ready when it answers", async () => {
  answer = () => new Response("ok");
  expect(await isReady(context)).toBe(true);
  answer = () => Response.json({ message: "Not now." }, { status: 503 });
  expect(await isReady(context)).toBe(false);
  await server.stop(true);
  expect(await isReady(context)).toBe(false);
  await expect(applySpec(context)).rejects.toThrow("does not answer");
});

const webhooks = { delivered: 2, failed: 1, dropped: 0 };
const counters = { connections: 3, messagesReceived: 5, messagesSent: 6, apiRequests: 4, slowConsumers: 0 };
const application = { id: "wsa-1", ...counters, webhooks };

test("figures are all numbers in the answer, nested numbers included, and a malformed answer is refused", async () => {
  answer = () => Response.json({ ...counters, webhooks, applications: [application] });
  const own = { ...counters, "webhooks.delivered": 2, "webhooks.failed": 1, "webhooks.dropped": 0 };
  expect(await figures(context)).toEqual({ whole: own, parts: [{ id: "wsa-1", figures: own }] });
  answer = () => Response.json({ ...counters, webhooks, applications: [{ ...application, mood: 1 }] });
  await expect(figures(context)).rejects.toThrow("applications.0.mood is unknown");
});

test("a reading has the counters and gauges of the server and of each application", async () => {
  answer = () => Response.json({ ...counters, connections: 7, webhooks, applications: [application] });
  const counted = {
    messagesReceived: 5,
    messagesSent: 6,
    apiRequests: 4,
    webhooksDelivered: 2,
    webhooksFailed: 1,
    webhooksDropped: 0,
  };
  expect(await reading(context)).toEqual({
    isPerProcess: false,
    isSinceCreation: true,
    counters: counted,
    gauges: { connections: 7 },
    parts: [{ id: "wsa-1", counters: counted, gauges: { connections: 3 } }],
  });
});
