// The pace of a terminal's client: acknowledgements wait for a client that sends too many frames.
import { afterEach, expect, test } from "bun:test";
import { until } from "../../../../tests/support/pilvi/pilvi.ts";
import { ClientPace } from "./terminal-pace.ts";

const passed: [string, number][] = [];
let nowMs = 0;
let pace: ClientPace | null = null;

afterEach(() => pace?.end());

function begin(): ClientPace {
  passed.splice(0);
  nowMs = 0;
  pace = new ClientPace(
    (to, bytes) => void passed.push([to, bytes]),
    () => nowMs,
  );
  return pace;
}

/** Counts frames. @returns whether the client may go on. */
const take = (client: ClientPace, frames: number) =>
  Array.from({ length: frames }, () => client.take()).every(Boolean);

test("a client that keeps its pace has every acknowledgement at once", () => {
  const client = begin();
  for (let second = 0; second < 10; second += 1) {
    expect(take(client, 500)).toBe(true);
    client.acknowledge("client", 1_024);
    client.acknowledge("host", 2_048);
    nowMs += 1_000;
  }
  expect(passed).toHaveLength(20);
});

test("acknowledgements for a client that is too fast are joined, and come when it keeps its pace again", async () => {
  const client = begin();
  expect(take(client, 1_500)).toBe(true);
  for (let count = 0; count < 100; count += 1) {
    client.acknowledge("host", 10);
    client.acknowledge("client", 20);
  }
  expect(passed).toEqual([]);
  nowMs = 1_000;
  await until("the acknowledgements come", () => passed.length > 0);
  expect(passed).toEqual([
    ["host", 1_000],
    ["client", 2_000],
  ]);
});

test("a client that goes on without acknowledgements has sent too much in the end", () => {
  const client = begin();
  expect(take(client, 4_000)).toBe(true);
  expect(client.take()).toBe(false);
});
