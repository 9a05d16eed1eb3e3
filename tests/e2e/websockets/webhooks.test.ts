// Webhooks of WebSocket applications through the whole of Pilvi: set by the API, signed, filtered, and kept from this
// machine.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import {
  changeApplication,
  createServer,
  RawSocket,
  untilServer,
  type ApplicationDocument,
  type TestServer,
} from "../../support/pilvi/websockets.ts";

interface Call {
  key: string | null;
  signature: string | null;
  body: string;
}

let pilvi: TestPilvi;
let made: TestServer;
let calls: Call[] = [];
const receiver = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { headers } = request;
    const [key, signature] = [headers.get("x-pusher-key"), headers.get("x-pusher-signature")];
    calls.push({ key, signature, body: await request.text() });
    return new Response("ok");
  },
});
const webhooks = [
  {
    url: `http://127.0.0.1:${receiver.port}/hooks`,
    event_types: ["channel_occupied"],
    filter: { channel_name_starts_with: "room-" },
  },
];

beforeAll(async () => {
  pilvi = await startPilvi({ env: { PILVI_WEBHOOK_ALLOW_PRIVATE: "1" } });
  made = await createServer(pilvi);
  made.main = await changeApplication(pilvi, made.main, { webhooks });
});
afterAll(async () => {
  await pilvi.close();
  await receiver.stop(true);
});

async function occupy(channel: string): Promise<RawSocket> {
  const socket = await new RawSocket(made.server, made.main).connected();
  await socket.subscribe(channel);
  return socket;
}

const occupied = (channel: string) => calls.find(({ body }) => body.includes(`"${channel}"`));

test("webhooks are signed and have only their configured events", async () => {
  const sockets = [await occupy("hall"), await occupy("room-1")];
  await until("it was called", () => occupied("room-1") !== undefined);
  const call = occupied("room-1");
  const { key = "", secret = "" } = made.main.attributes;
  expect(call?.key).toBe(key);
  expect(call?.signature).toBe(
    createHmac("sha256", secret)
      .update(call?.body ?? "")
      .digest("hex"),
  );
  const { events } = JSON.parse(call?.body ?? "") as { events: object[] };
  expect(events).toEqual([{ name: "channel_occupied", channel: "room-1" }]);
  expect(occupied("hall")).toBeUndefined();
  for (const socket of sockets) socket.close();
});

test("webhooks are signed with the new secret after a rotation", async () => {
  const path = `/websocket-applications/${made.main.id}/rotate-secret`;
  const { body } = await pilvi.api<ApplicationDocument>("POST", path, {});
  await untilServer(pilvi, made.id);
  const socket = await occupy("room-2");
  await until("it was called", () => occupied("room-2") !== undefined);
  const call = occupied("room-2");
  const hmac = createHmac("sha256", body.data.attributes.secret ?? "").update(call?.body ?? "");
  expect(call?.signature).toBe(hmac.digest("hex"));
  socket.close();
});

test("webhooks do not reach this machine unless the operator allows it", async () => {
  await pilvi.stop();
  pilvi = await startPilvi({ dataDir: pilvi.dataDir, port: pilvi.port });
  made.server = await untilServer(pilvi, made.id);
  calls = [];
  const socket = await occupy("room-3");
  await until("it was given up", async () => {
    const text = await pilvi.metrics();
    return /pilvi_websocket_webhooks_dropped_total\{.*\} [1-9]/.test(text);
  });
  expect(calls).toEqual([]);
  socket.close();
});
