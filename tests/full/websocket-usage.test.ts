// The messages of a WebSocket cluster in its usage and metrics, over kills of the server and of Pilvi's processes.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { UsageResource } from "../../src/resources/shared/usage-schema.ts";
import type { WebsocketMetrics } from "../../src/resources/websockets/schema.ts";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import { createServer, publish, type TestServer } from "../support/pilvi/websockets.ts";

/** A minute must end, and is counted within the next. */
const COUNTED_TIMEOUT_MS = 200_000;

let pilvi: TestPilvi;
let made: TestServer;
/** The published messages so far, and the messages of the latest usage that was read. */
let published = 0;
let counted = 0;

beforeAll(async () => {
  pilvi = await startPilvi();
  made = await createServer(pilvi);
});
afterAll(() => pilvi.close());

async function publishes(times: number): Promise<void> {
  const event = { channel: "news", name: "said", data: "hello" };
  for (let time = 0; time < times; time += 1) {
    await until("the message is published", async () => {
      return (await publish(made.server, made.main, event).catch(() => 0)) === 200;
    });
    published += 1;
  }
}

/** The messages in the usage, which never are fewer than before. */
async function messages(): Promise<number> {
  const path = `/usage?filter[resource]=${made.id}`;
  const { status, body } = await pilvi.api<{ data: UsageResource[] }>("GET", path);
  expect(status).toBe(200);
  const { messages_received: received } = body.data[0]?.attributes.totals ?? expect.unreachable();
  expect(received).toBeGreaterThanOrEqual(counted);
  counted = received ?? 0;
  return counted;
}

async function untilCounted(): Promise<void> {
  await until("all messages are counted", async () => (await messages()) >= published, COUNTED_TIMEOUT_MS);
  expect(counted).toBe(published);
}

/** The messages in the metrics, which are there while the server does not run. */
async function measured(): Promise<number> {
  const { status, body } = await pilvi.api<WebsocketMetrics>("GET", `/websocket-servers/${made.id}/metrics`);
  expect(status).toBe(200);
  const { data } = body.data.messages;
  return Math.round(data.reduce((all, { y: [received = 0] }) => all + received * 60, 0));
}

test("messages count once over kills of host, control plane and server", async () => {
  await publishes(10);
  await untilCounted();
  await publishes(5);
  pilvi.kill("host", "control");
  await publishes(2);
  await pilvi.untilReady();
  // The server went on, and the next host counts on from what was read before.
  await untilCounted();
  expect(await measured()).toBe(published);
  // Nobody has read these when the server is killed.
  await publishes(4);
  const [pid] = pilvi.enginePids(made.id);
  killIfThere(pid);
  await until("another server runs", () => ![undefined, pid].includes(pilvi.enginePids(made.id)[0]));
  await publishes(3);
  await untilCounted();
  expect(await measured()).toBe(published);
}, 900_000);
