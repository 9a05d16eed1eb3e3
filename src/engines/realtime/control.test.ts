// What the host asks of a realtime server, and how it reads the answers.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RealtimeSpec } from "../../contracts/instance-spec.ts";
import type { EngineContext } from "../engine.ts";
import { applySpec, dismiss, figures, isReady, metrics } from "./control.ts";
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
  expect(asked).toEqual(['PUT /v2/config {"maxConnections":90,"applications":[]}']);
});

test("clients are dismissed by a configuration without applications", async () => {
  answer = () => new Response(null, { status: 204 });
  const spec = { ...context.spec, applications: [{ id: "wsa-1" }] } as unknown as RealtimeSpec;
  await dismiss({ ...context, spec });
  expect(asked).toEqual(['PUT /v2/config {"maxConnections":90,"applications":[]}']);
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

test("metrics are of the cluster or of one application, and a malformed answer is refused", async () => {
  const series = { connectionCount: [{ at: "2026-03-15T08:00:00.000Z", value: 1 }], messageRate: [] };
  answer = () => Response.json(series);
  expect(await metrics(context, { periodSeconds: 60 })).toEqual(series);
  await metrics(context, { periodSeconds: 60, part: "wsa-1" });
  expect(asked).toEqual(["GET /v2/metrics?id=ws-1&period=60", "GET /v2/metrics?id=wsa-1&period=60"]);
  answer = () => Response.json({ connectionCount: "many" });
  await expect(metrics(context, { periodSeconds: 60 })).rejects.toThrow();
});

test("figures are all numbers in the answer, nested numbers included", async () => {
  const webhooks = { delivered: 2, failed: 1, dropped: 0 };
  const counters = { connections: 3, messagesReceived: 5, messagesSent: 6, slowConsumers: 0 };
  const application = { id: "wsa-1", ...counters, webhooks };
  answer = () => Response.json({ connections: 3, applications: [application] });
  const own = { ...counters, "webhooks.delivered": 2, "webhooks.failed": 1, "webhooks.dropped": 0 };
  expect(await figures(context)).toEqual({
    whole: { connections: 3 },
    parts: [{ id: "wsa-1", figures: own }],
  });
  answer = () => Response.json({ connections: 3, applications: [{ ...application, mood: 1 }] });
  await expect(figures(context)).rejects.toThrow("applications.0.mood is unknown");
});
