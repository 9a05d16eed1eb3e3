// The hand-over of sockets to a host that takes them later than the gateway sends, with real sockets.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualTimers } from "../../../tests/support/gateway/manual-timers.ts";
import { addressGreeting } from "../../contracts/address-passing.ts";
import { acceptForPassing, listenForPassing, pairForPassing } from "../../lib/descriptor-passing.ts";
import { SocketCourier } from "../../lib/socket-courier.ts";
import { sockets } from "../../lib/socket-calls.ts";
import { AddressLink } from "./address-link.ts";

/** The kernel keeps some 3,300 under way. */
const IDS = Array.from({ length: 4_000 }, (_, number) => `db-01k3x9${String(number).padStart(20, "0")}`);
const [FIRST, LAST] = [IDS[0] ?? "", IDS.at(-1) ?? ""];

let folder: string;
let listener: number;
let nowMs: number;
let timers: ManualTimers;
/** The sockets of the gateway, by instance. */
let held: Map<string, number>;
let pair: [number, number];
let events: string[];
let link: AddressLink;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-address-link-"));
  listener = listenForPassing(join(folder, "addresses"));
  nowMs = 0;
  timers = new ManualTimers(() => nowMs);
  pair = pairForPassing();
  held = new Map(IDS.map((id) => [id, pair[0]]));
  events = [];
  link = new AddressLink(timers, join(folder, "addresses"), {
    greeted: () => events.push("greeted"),
    mismatched: () => events.push("mismatched"),
    socketOf: (id) => held.get(id) ?? null,
    handedOver: () => events.push("handed over"),
    received: (id) => events.push(`received ${id}`),
    ended: () => events.push("ended"),
  });
});
afterEach(() => {
  link.close();
  for (const fd of [listener, ...pair]) sockets.close(fd);
  rmSync(folder, { recursive: true });
});

function accept(): SocketCourier {
  return new SocketCourier(acceptForPassing(listener) ?? -1, addressGreeting("The gateway"));
}

/** Takes what has arrived. @returns the instances whose sockets the host has got. */
function taken(host: SocketCourier): string[] {
  return host.take().flatMap(([id, fd]) => {
    if (fd !== null) sockets.close(fd);
    return fd === null ? [] : [id];
  });
}

function pass(ms: number): void {
  nowMs += ms;
  timers.run();
}

test("a host takes thousands of sockets in several steps, and gets none that was closed before its step", () => {
  expect(link.connect(IDS)).toBe(true);
  pass(100);
  expect(events).toEqual([]);
  for (const id of [FIRST, LAST]) held.delete(id);
  const host = accept();
  const first = taken(host);
  expect(first.length).toBeLessThan(IDS.length);
  pass(10);
  expect(events).toEqual(["greeted", "handed over"]);
  expect([...first, ...taken(host)]).toEqual(IDS.filter((id) => id !== LAST));
  pass(100);
  expect([taken(host), events.length]).toEqual([[], 2]);
  host.close();
});

test("a hand-over to a host that goes away ends, and begins anew with the next host", () => {
  expect(link.connect(IDS)).toBe(true);
  accept().close();
  pass(100);
  expect(events).toEqual(["ended"]);
  expect(link.connect([FIRST])).toBe(true);
  const host = accept();
  expect(taken(host)).toEqual([FIRST]);
  expect(events).toEqual(["ended", "handed over"]);
  host.close();
});
