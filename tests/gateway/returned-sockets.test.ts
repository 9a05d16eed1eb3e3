// A host that restarts alone gets thousands of sockets back from the gateway, more than the kernel keeps under way.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addressGreeting } from "../../src/contracts/address-passing.ts";
import type { HostMessage, Route } from "../../src/contracts/gateway-link.ts";
import { Gateway } from "../../src/gateway/clients/gateway.ts";
import { acceptForPassing, listenForPassing } from "../../src/lib/descriptor-passing.ts";
import { HeldSocket } from "../../src/lib/held-socket.ts";
import { SocketCourier, type Parcel } from "../../src/lib/socket-courier.ts";
import { sockets } from "../../src/lib/socket-calls.ts";
import { LinkHost } from "../support/gateway/link-host.ts";
import { Loop } from "../support/gateway/loop.ts";
import { freePort } from "../support/pilvi/ports.ts";

/** The kernel keeps some 3,300 under way. */
const MANY = 4_000;
const IDS = Array.from({ length: MANY }, (_, number) => `db-01k3x9${String(number).padStart(20, "0")}`);
const log = { info: () => {}, warn: () => {}, error: () => {}, child: () => log };

let folder: string;
let loop: Loop;
let host: LinkHost;
let held: HeldSocket;
let readies: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-returned-"));
  loop = new Loop();
  host = new LinkHost(join(folder, "link"));
  held = HeldSocket.bind({ address: "127.0.0.1", port: freePort() });
  readies = 0;
  const settings = {
    linkSocket: join(folder, "link"),
    addressSocket: join(folder, "link-addresses"),
    certificates: null,
    isInsecureAllowed: true,
  };
  new Gateway(loop.pool, settings, log, () => (readies += 1)).start();
  await loop.until(() => host.received.length > 0);
});
afterEach(() => {
  host.stop();
  held.close();
  loop.close();
  rmSync(folder, { recursive: true });
});

/** How often this process, which is the host and the gateway, has the socket open. */
function copies({ fd }: HeldSocket): number {
  const name = readlinkSync(`/proc/self/fd/${fd}`);
  const isCopy = (each: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${each}`) === name;
    } catch {
      // The descriptor that lists the others is closed by now.
      return false;
    }
  };
  return readdirSync("/proc/self/fd").filter(isCopy).length;
}

/** Replaces the host by another that passes the gateway these sockets and ends. */
async function passAndEnd(parcels: Parcel[]): Promise<void> {
  const path = join(folder, "link-addresses");
  host.addresses.close();
  rmSync(path);
  const listener = listenForPassing(path);
  host.dismiss();
  let fd: number | null = null;
  await loop.until(() => (fd ??= acceptForPassing(listener)) !== null);
  const courier = new SocketCourier(fd ?? -1, addressGreeting("The gateway"));
  courier.send(...parcels);
  await loop.until(() => copies(held) === 1 + parcels.length);
  host.stop();
  courier.close();
  sockets.close(listener);
}

test("a new host gets all sockets of the former, and its routes are read meanwhile", async () => {
  await passAndEnd(IDS.map((id) => [id, held.fd]));
  host = new LinkHost(join(folder, "link"));
  const route: Route = {
    id: IDS[0] ?? "",
    protocol: "redis",
    ...held.place,
    socket: join(folder, "engine.sock"),
    engine: { name: "valkey", version: "8.0.1" },
    state: "asleep",
    lastError: null,
    users: [],
    mockNonce: null,
    maxConnections: 100,
    sleepAfterSeconds: null,
    latestStart: null,
  };
  const greeting: HostMessage[] = [
    { type: "entries", ids: [route.id] },
    { type: "entry", entry: route },
    { type: "synced" },
  ];
  await loop.until(() => host.gateway !== null);
  host.write(greeting.map((message) => `${JSON.stringify(message)}\n`).join(""));
  await loop.until(() => host.received.some(({ type }) => type === "holding"));
  await loop.until(() => readies === 1);
  expect(host.connections).toBe(1);
  // The host has a copy for each instance, and the gateway has none any more.
  expect(copies(held)).toBe(1 + MANY);
  // The address is taken, so only the socket from the gateway makes this possible.
  await host.addresses.hold(IDS.at(-1) ?? "", held.place, "gateway");
});
