// The number of clients that have logged in, as the gateway reports it to the host.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostMessage, Route } from "../../src/contracts/gateway-link.ts";
import { ClientCounts } from "../../src/gateway/clients/client-counts.ts";
import { Gateway } from "../../src/gateway/clients/gateway.ts";
import { sha256Hex } from "../../src/lib/secrets.ts";
import { LinkHost } from "../support/gateway/link-host.ts";
import { Loop } from "../support/gateway/loop.ts";
import { freePort } from "../support/pilvi/ports.ts";

let folder: string;
let loop: Loop;
let host: LinkHost;
let isReady: boolean;
const clients: Socket[] = [];
const log = { info: () => {}, warn: () => {}, error: () => {}, child: () => log };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-link-"));
  loop = new Loop();
  isReady = false;
  host = new LinkHost(join(folder, "link"));
  const settings = {
    linkSocket: join(folder, "link"),
    addressSocket: join(folder, "link-addresses"),
    certificates: null,
    isInsecureAllowed: true,
  };
  new Gateway(loop.pool, settings, log, () => (isReady = true)).start();
  await loop.until(() => host.gateway !== null);
});
afterEach(() => {
  for (const each of clients.splice(0)) each.destroy();
  host.stop();
  loop.close();
  rmSync(folder, { recursive: true });
});

function greeting(port: number): HostMessage[] {
  const entry: Route = {
    id: "cache-1",
    protocol: "redis",
    address: "127.0.0.1",
    port,
    socket: join(folder, "engine.sock"),
    engine: { name: "valkey", version: "8.0.1" },
    state: "asleep",
    lastError: null,
    users: [{ name: "app", verifier: sha256Hex("secret") }],
    mockNonce: null,
    maxConnections: 100,
    sleepAfterSeconds: null,
    latestStart: null,
  };
  return [{ type: "entries", ids: [entry.id] }, { type: "entry", entry }, { type: "synced" }];
}

function client(port: number, text: string): Socket {
  const socket = connect(port, "127.0.0.1");
  clients.push(socket);
  socket.on("error", () => undefined);
  socket.write(text);
  return socket;
}

/** The number that the host has; null before the first report. */
function latest(): number | null {
  const reports = host.received.flatMap((each) => (each.type === "clients" ? [each.counts] : []));
  return reports.at(-1)?.["cache-1"] ?? null;
}

test("clients count from their login to their end, and a host that comes back gets the number", async () => {
  const port = freePort();
  host.say(...greeting(port));
  await loop.until(() => isReady);
  client(port, "PING\r\n");
  const identified = client(port, "AUTH app secret\r\n");
  await loop.until(() => latest() !== null);
  expect(latest()).toBe(1);
  host.received.splice(0);
  host.dismiss();
  await loop.until(() => host.gateway === null);
  await loop.until(() => host.gateway !== null);
  host.say(...greeting(port));
  await loop.until(() => latest() === 1);
  identified.destroy();
  await loop.until(() => latest() === 0);
});

test("only numbers that have changed are reported, in messages of a bounded size", () => {
  const due: (() => void)[] = [];
  const sent: Record<string, number>[] = [];
  const numbers = new Map<string, number>();
  const timers = { after: (_ms: number, act: () => void) => void due.push(act) };
  const counts = new ClientCounts(
    timers as never,
    (id) => numbers.get(id) ?? 0,
    (message) => sent.push(message.counts),
  );
  for (let index = 0; index < 1_200; index += 1) {
    numbers.set(`cache-${index}`, 1);
    counts.note(`cache-${index}`);
  }
  counts.note("cache-without-clients");
  for (const act of due.splice(0)) act();
  expect(sent.splice(0).map((each) => Object.keys(each).length)).toEqual([500, 500, 200]);
  counts.note("cache-1");
  for (const act of due.splice(0)) act();
  expect(sent).toEqual([]);
});
