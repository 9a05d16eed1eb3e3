// Frames between the client of a terminal and its host: early input, and a client that sends more than anyone needs.
import { afterEach, expect, test } from "bun:test";
import { until } from "../../../../tests/support/pilvi/pilvi.ts";
import { MAX_CLIENT_FRAME } from "../../../contracts/terminal.ts";
import { createLog } from "../../../lib/log.ts";
import type { CommandRow } from "./store.ts";
import { TerminalRelay, type RelayOptions } from "./terminal-relay.ts";

const started: TerminalRelay[] = [];

afterEach(() => {
  for (const relay of started.splice(0)) relay.closed();
});

/** A relay whose host runs the command from `run` on, and keeps all frames. */
function stage() {
  let isRunning = false;
  const toHost: (string | Uint8Array)[] = [];
  const closings: string[] = [];
  const driver: Pick<RelayOptions["driver"], "observeBuild" | "openTerminal"> = {
    observeBuild: async () => await Promise.resolve({ state: isRunning ? "running" : "queued" } as never),
    async openTerminal(_id, size) {
      await Promise.resolve();
      toHost.push(JSON.stringify(size));
      return { send: (frame) => void toHost.push(frame), waitingBytes: () => 0, close: () => undefined };
    },
  };
  const relay = new TerminalRelay({
    driver: driver as RelayOptions["driver"],
    log: createLog("control", "silent"),
    id: "comm-1",
    size: { columns: 80, rows: 24 },
    find: async () => await Promise.resolve({ finishedAt: null } as CommandRow),
    isAllowed: async () => await Promise.resolve(true),
    closing: new AbortController().signal,
    onEnd: () => undefined,
  });
  started.push(relay);
  relay.opened({
    send: () => undefined,
    close: (_code, reason) => void closings.push(reason),
  });
  return {
    relay,
    toHost,
    closings,
    async run(): Promise<void> {
      isRunning = true;
      await until("the host has the terminal", () => toHost.length > 0);
    },
  };
}

test("of many changes of the size at once, the host gets few, and the last of them", async () => {
  const { relay, toHost, closings, run } = stage();
  await run();
  const resize = (columns: number) => relay.received(JSON.stringify({ columns, rows: 24 }));
  for (let columns = 1; columns <= 999; columns += 1) resize(columns);
  resize(100);
  const last = JSON.stringify({ columns: 100, rows: 24 });
  await until("the last size has come", () => toHost.at(-1) === last);
  expect(toHost.length).toBeLessThan(5);
  expect(closings).toEqual([]);
});

test("a size that the window has already is not sent again", async () => {
  const { relay, toHost, run } = stage();
  await run();
  for (let count = 0; count < 100; count += 1) relay.received(JSON.stringify({ columns: 80, rows: 24 }));
  relay.received(Buffer.from("x"));
  expect(toHost.slice(1)).toEqual([Buffer.from("x")]);
});

test("a client that sends far more frames than anyone needs is closed", async () => {
  const { relay, closings, run } = stage();
  await run();
  for (let count = 0; count < 10_000; count += 1) relay.received(JSON.stringify({ acknowledged: 1 }));
  expect(closings).toEqual(["Too many frames came at once."]);
});

test("many early frames reach the host in frames that it takes", async () => {
  const { relay, toHost, closings, run } = stage();
  const sent = Array.from({ length: 250 }, (_, index) => Buffer.alloc(1_024, index));
  for (const frame of sent) relay.received(frame);
  await run();
  await until("the input has come", () => toHost.length > 1);
  const frames = toHost.filter((frame) => typeof frame !== "string");
  expect(Math.max(...frames.map(({ length }) => length))).toBeLessThanOrEqual(MAX_CLIENT_FRAME);
  expect(Buffer.concat(frames).equals(Buffer.concat(sent))).toBe(true);
  expect(closings).toEqual([]);
});
