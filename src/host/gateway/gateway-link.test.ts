// The link to the gateway: one gateway at a time, lines cut anywhere, and answers that never come.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { rmSync } from "node:fs";
import { freshDataDir, until } from "../../../tests/support/pilvi/pilvi.ts";
import type { Route } from "../../contracts/gateway-link.ts";
import type { Wake } from "../../contracts/sleep.ts";
import { GATEWAY_LINK_VERSION } from "../../contracts/versions.ts";
import { createLog } from "../../lib/log.ts";
import { GatewayLink, MAX_ENTRY_BYTES } from "./gateway-link.ts";
import { gatewaySocket } from "../os/layout.ts";
import { REASON, TestGateway } from "../test-support.ts";

let dataDir: string;
let link: GatewayLink;
let events: string[];
/** What happens to the sockets of addresses. */
let exchanges: string[];
const log = createLog("host", "silent");

/** For what must come, however busy the machine is. */
const PATIENCE_MS = 60_000;

beforeEach(() => {
  dataDir = freshDataDir();
  events = [];
  exchanges = [];
  link = listen({ addressesMs: PATIENCE_MS });
});

function listen(times: ConstructorParameters<typeof GatewayLink>[1]): GatewayLink {
  const listening = new GatewayLink(log, times);
  listening.listen(gatewaySocket(dataDir), {
    wake: (id, { user }) => events.push(`wake ${id} ${user}`),
    woken: (id) => events.push(`woken ${id}`),
    idle: (id) => {
      if (id === "faulty") throw new Error("there is a fault in this");
      events.push(`idle ${id}`);
    },
    users: (id, question) => events.push(`users ${id} ${question}`),
    addresses: {
      expect: () => exchanges.push("expect"),
      meet: () => exchanges.push("meet"),
      stopExpecting: () => exchanges.push("stopExpecting"),
    },
  });
  return listening;
}

/** Has another link listen, with a time of its own in which a gateway may connect again. */
function listenAnew(contactMs: number): void {
  link.close();
  link = listen({ contactMs });
}

afterEach(() => {
  link.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function entry(id: string, state: Route["state"] = "running"): Route {
  return {
    id,
    protocol: "redis",
    address: "127.0.0.1",
    port: 1,
    socket: "/nowhere",
    engine: { name: "valkey", version: "8" },
    state,
    lastError: null,
    users: [],
    mockNonce: null,
    maxConnections: 100,
    sleepAfterSeconds: null,
    latestStart: null,
  };
}

test("a new gateway gets all entries first, and then each change once", async () => {
  link.publish(entry("a"));
  link.publish(entry("b"));
  const gateway = await TestGateway.connect(dataDir);
  expect(gateway.received).toEqual([
    { type: "entries", ids: ["a", "b"] },
    { type: "entry", entry: entry("a") },
    { type: "entry", entry: entry("b") },
    { type: "synced" },
  ]);
  link.publish(entry("a"));
  link.publish(entry("a", "asleep"));
  link.publish(entry("a", "asleep"), 7);
  await until("the route is sent", () => gateway.received.length >= 6);
  const asleep = { type: "entry", entry: entry("a", "asleep") } as const;
  expect(gateway.received.slice(4)).toEqual([asleep, { ...asleep, question: 7 }]);
  gateway.close();
});

test("the link reads lines that come in pieces, and several lines at once", async () => {
  const gateway = await TestGateway.connect(dataDir);
  const messages = [
    { type: "users", id: "a", question: 7 },
    { type: "wake", id: "å", reason: REASON },
    { type: "idle", id: "b" },
  ];
  const bytes = Buffer.from(messages.map((each) => `${JSON.stringify(each)}\n`).join(""));
  const cut = bytes.indexOf(0xc3) + 1;
  gateway.sendBytes(bytes.subarray(0, cut));
  await until("the first piece was read", () => events.length === 1);
  gateway.sendBytes(bytes.subarray(cut));
  await until("both messages are received", () => events.length === 3);
  expect(events).toEqual(["users a 7", `wake å ${REASON.user}`, "idle b"]);
  gateway.close();
});

test.each([
  ["no JSON", "hello\n"],
  ["no message", '{"type":"stop","id":"a"}\n'],
  ["a message with something missing", '{"type":"wake","id":"a"}\n'],
  ["a line without an end", "x".repeat(100_000)],
])("parts from a gateway that says %s", async (_, text) => {
  const gateway = await TestGateway.connect(dataDir);
  gateway.sendBytes(Buffer.from(text));
  await until("it was parted", () => !gateway.isConnected);
  expect(events).toEqual([]);
});

test("gateways of other versions are disconnected and logged once, and a gateway of this version is served", async () => {
  const complaints = spyOn(log, "error").mockClear();
  const firstLines = ['{"type":"hello","version":99,"more":1}\n', '{"type":"holding"}\n'];
  for (const line of [...firstLines, ...firstLines.slice(1)]) {
    const other = await TestGateway.connect(dataDir, line);
    await until("it was sent away", () => !other.isConnected);
    expect(other.received).toEqual([]);
  }
  expect(complaints.mock.calls.map(([said]) => (said as { error: Error }).error.message)).toEqual([
    `The gateway speaks version 99 of the link and this process version ${GATEWAY_LINK_VERSION}: start both from the same Pilvi.`,
    `The gateway speaks no version of the link and this process version ${GATEWAY_LINK_VERSION}: start both from the same Pilvi.`,
  ]);
  expect([events, exchanges]).toEqual([[], []]);
  // The refused gateway has clients of its own, which no suspension may cut off.
  expect([await link.drain("a", 60_000), await link.detach("a")]).toEqual([false, false]);
  const gateway = await TestGateway.connect(dataDir);
  expect(gateway.received.map(({ type }) => type)).toEqual(["entries", "synced"]);
  gateway.close();
});

test("the sockets of a gateway are expected from its greeting until it holds none back, or has gone", async () => {
  const gateway = await TestGateway.connect(dataDir);
  expect(exchanges).toEqual(["expect"]);
  gateway.send({ type: "holding" });
  await until("the gateway's sockets are there", () => exchanges.length === 2);
  gateway.close();
  await until("the link was lost", () => exchanges.length === 3);
  expect(exchanges).toEqual(["expect", "meet", "stopExpecting"]);
});

test("a message whose callback fails does not cost the messages after it", async () => {
  const gateway = await TestGateway.connect(dataDir);
  const complaints = spyOn(log, "error").mockClear();
  const messages = ["a", "faulty", "b"].map((id) => JSON.stringify({ type: "idle", id }));
  gateway.sendBytes(Buffer.from(messages.map((line) => `${line}\n`).join("")));
  await until("the messages before and after it are received", () => events.length === 2);
  expect(events).toEqual(["idle a", "idle b"]);
  expect(complaints.mock.calls).toEqual([
    [
      { error: new Error("there is a fault in this"), instance: "faulty", type: "idle" },
      "a message of the gateway could not be processed",
    ],
  ] as never);
  expect(gateway.isConnected).toBe(true);
  gateway.close();
});

test("each wake is logged with its reason and the duration of its parts", async () => {
  const gateway = await TestGateway.connect(dataDir);
  const lines = spyOn(log, "info").mockClear();
  const spansMs = { accept: 1, auth: 2, start: 3, ready: 4, login: 5 };
  const wake: Wake = { at: "2026-01-02T03:04:05.678Z", reason: REASON, spansMs };
  gateway.send({ type: "woken", id: "a", wake });
  await until("the message is received", () => events.length === 1);
  expect(lines.mock.calls).toEqual([[{ instance: "a", ...wake }, "an instance was woken"]] as never);
  gateway.close();
});

test("a gateway with a broken link counts as holding its clients until its time to come back is over", async () => {
  const lines = spyOn(log, "info").mockClear();
  const lost = (times: number) => () =>
    lines.mock.calls.flat().filter((text) => text === "the gateway has gone").length === times;
  listenAnew(PATIENCE_MS);
  (await TestGateway.connect(dataDir)).close();
  await until("the link was lost", lost(1));
  const early = [link.drain("a", 1), link.detach("b")];
  const gateway = await TestGateway.connect(dataDir);
  expect(await Promise.all(early)).toEqual([false, false]);
  expect(gateway.received.map(({ type }) => type)).toEqual(["entries", "synced"]);
  expect([await link.drain("a", 60_000), await link.detach("a")]).toEqual([true, true]);
  gateway.close();
  await until("the link was lost again", lost(2));
  listenAnew(1);
  (await TestGateway.connect(dataDir)).close();
  await until("the other link was lost", lost(3));
  expect([await link.drain("a", 1), await link.detach("a")]).toEqual([true, true]);
});

test("a later gateway replaces the former, whose answers no longer count", async () => {
  const former = await TestGateway.connect(dataDir);
  former.drainAnswer = null;
  const drained = link.drain("a", 60_000);
  await until("the former gateway is asked", () => former.received.some(({ type }) => type === "drain"));
  const gateway = await TestGateway.connect(dataDir);
  expect(await drained).toBe(false);
  await until("the former was parted", () => !former.isConnected);
  expect(await link.drain("a", 60_000)).toBe(true);
  expect(await link.detach("a")).toBe(true);
  gateway.close();
});

test("without a gateway a drain and a detachment succeed at once, and addresses are released", async () => {
  link.publish(entry("a"));
  expect(await link.drain("a", 60_000)).toBe(true);
  expect(await link.detach("a")).toBe(true);
  await link.withdraw("a");
  const gateway = await TestGateway.connect(dataDir);
  expect(gateway.entries.size).toBe(0);
  gateway.close();
});

test("a gateway that does not answer in time has not drained", async () => {
  const gateway = await TestGateway.connect(dataDir);
  gateway.drainAnswer = null;
  expect(await link.drain("a", 1)).toBe(false);
  gateway.drainAnswer = "busy";
  expect(await link.drain("a", 1_000)).toBe(false);
  gateway.close();
});

test("the host gets the client addresses that the gateway knows, and no address once the gateway has ended", async () => {
  link.publish(entry("a"));
  expect(await link.addressesOf("a", [1])).toEqual(new Map());
  const gateway = await TestGateway.connect(dataDir);
  const questions = () => gateway.received.flatMap((each) => (each.type === "addresses" ? [each] : []));
  const [first, second] = [link.addressesOf("a", [11, 12, 13]), link.addressesOf("a", [14])];
  await until("both are asked", () => questions().length === 2);
  expect(questions().map(({ id, sessions }) => [id, sessions])).toEqual([
    ["a", [11, 12, 13]],
    ["a", [14]],
  ]);
  const [one, other] = questions().map(({ question }) => question);
  gateway.send({ type: "addresses", id: "a", question: other ?? 0, addresses: ["192.0.2.14", "192.0.2.15"] });
  gateway.send({ type: "addresses", id: "a", question: one ?? 0, addresses: ["192.0.2.11", null] });
  expect(await first).toEqual(new Map([[11, "192.0.2.11"]]));
  expect(await second).toEqual(new Map([[14, "192.0.2.14"]]));
  // Neither an instance that is not behind the gateway nor an empty list is asked about.
  expect(await link.addressesOf("b", [15])).toEqual(new Map());
  expect(await link.addressesOf("a", [])).toEqual(new Map());
  const third = link.addressesOf("a", [16]);
  await until("it is asked", () => questions().length === 3);
  gateway.close();
  expect(await third).toEqual(new Map());
});

test("an entry that is too long is left out, and the link goes on", async () => {
  const complaints = spyOn(log, "error").mockClear();
  const gateway = await TestGateway.connect(dataDir);
  link.publish({ ...entry("a"), users: [{ name: "app", verifier: "x".repeat(MAX_ENTRY_BYTES) }] });
  link.publish(entry("b"));
  await until("the other route is sent", () => gateway.entries.has("b"));
  expect(gateway.entries.has("a")).toBe(false);
  expect(gateway.isConnected).toBe(true);
  expect(complaints.mock.calls).toEqual([
    [{ instance: "a" }, "an entry is too long for the gateway and was left out"],
  ] as never);
  gateway.close();
});

test("a gateway that reads late gets only the latest entry of each instance", async () => {
  const users = [{ name: "app", verifier: "x".repeat(MAX_ENTRY_BYTES / 2) }];
  const ids = Array.from({ length: 200 }, (_, index) => `db-${index}`);
  const gateway = await TestGateway.connect(dataDir);
  // All entries are written before the gateway can read any.
  for (const state of ["starting", "running", "draining", "asleep"] as const)
    for (const id of ids) link.publish({ ...entry(id, state), users });
  await until("all routes are sent", () => ids.every((id) => gateway.entries.get(id)?.state === "asleep"));
  const receivedMore = ids.filter((id) => gateway.statesOf(id).length > 1);
  expect(receivedMore.length).toBeLessThan(10);
  gateway.close();
});
