// The end of all connections to an engine: as long as they go on closing, none is cut off.
import { expect, test } from "bun:test";
import { ManualTimers } from "../../../tests/support/gateway/manual-timers.ts";
import type { SocketStream } from "../sockets/socket-stream.ts";
import { Disconnection } from "./disconnect.ts";

function stage(count: number) {
  let nowMs = 0;
  const open = new Set<SocketStream>();
  const cutOff: number[] = [];
  const streams = Array.from({ length: count }, (_, index): SocketStream => {
    const stream = {
      close: () => {
        if (open.delete(stream)) cutOff.push(index);
      },
    } as unknown as SocketStream;
    return stream;
  });
  for (const stream of streams) open.add(stream);
  const state = { isParted: false };
  const timers = new ManualTimers(() => nowMs);
  new Disconnection(timers, open, () => {
    state.isParted = true;
  }).begin();
  return {
    state,
    cutOff,
    /** The protocol handler ends the oldest connection. */
    endNext: () => void open.delete([...open][0] as SocketStream),
    pass(ms: number): void {
      for (const endsAtMs = nowMs + ms; nowMs < endsAtMs;) {
        nowMs += 1;
        timers.run();
      }
    },
    /** The process is frozen meanwhile, and its timers run late. */
    freeze(ms: number): void {
      nowMs += ms;
      timers.run();
    },
  };
}

test("connections that close one after the other have more time than a silent connection", () => {
  const { state, cutOff, endNext, pass } = stage(5);
  for (let closed = 0; closed < 5; closed += 1) {
    pass(1_500);
    expect(state.isParted).toBe(false);
    endNext();
  }
  pass(1);
  expect([cutOff, state.isParted]).toEqual([[], true]);
});

test("a connection whose engine is silent is cut off after two seconds", () => {
  const { state, cutOff, endNext, pass } = stage(2);
  pass(1_000);
  endNext();
  pass(1);
  pass(1_999);
  expect(cutOff).toEqual([]);
  pass(1);
  expect([cutOff, state.isParted]).toEqual([[1], true]);
});

test("no connection is cut off for the time in which the gateway was frozen", () => {
  const { state, cutOff, endNext, pass, freeze } = stage(2);
  freeze(3_000);
  expect(cutOff).toEqual([]);
  endNext();
  endNext();
  pass(1);
  expect([cutOff, state.isParted]).toEqual([[], true]);
});

test("all connections are cut off after twenty seconds", () => {
  const { state, cutOff, endNext, pass } = stage(30);
  for (let second = 0; second < 20; second += 1) {
    pass(1_000);
    endNext();
  }
  expect([cutOff.length, state.isParted]).toEqual([11, true]);
});
