// The stream of observations, from a host whose changes the test makes.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WatchLine } from "../contracts/host-answers.ts";
import type { Observation } from "../contracts/observation.ts";
import type { SleepState } from "../contracts/sleep.ts";
import { createLog } from "../lib/log.ts";
import type { Listener } from "./host.ts";
import { HostJournal } from "./journal/host-journal.ts";
import { watchResponse } from "./watch.ts";

const NEVER_MS = 3_600_000;

let seen: Record<string, Observation>;
let listener: Listener;
let end: AbortController;
let lines: AsyncIterator<WatchLine>;

beforeEach(async () => {
  seen = { first: observation("first", "asleep"), second: observation("second", "asleep") };
  end = new AbortController();
  const host = {
    ids: () => Object.keys(seen),
    restlessIds: () => [],
    observe: (id: string) => seen[id] ?? observation(id, "absent"),
    listen: (listens: Listener) => {
      listener = listens;
      return () => undefined;
    },
  };
  lines = linesOf(watchResponse(host, end.signal, NEVER_MS));
  expect([await nextState(), await nextState()]).toEqual(["first asleep", "second asleep"]);
  expect((await lines.next()).value).toEqual({ type: "synced", ids: ["first", "second"] });
});

afterEach(() => end.abort());

function observation(id: string, state: Observation["state"], sleepState: SleepState = "awake"): Observation {
  const sleep = { state: sleepState, since: new Date().toISOString(), lastWake: null, wakes: 0 };
  const rest = { engine: null, limits: null, lastError: null, crashes: 0 };
  return { id, state, since: new Date().toISOString(), ...rest, sleep };
}

function change(...changed: Parameters<typeof observation>): void {
  const next = observation(...changed);
  seen[next.id] = next;
  listener(next);
}

async function* linesOf(response: Response): AsyncGenerator<WatchLine, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of response.body ?? []) {
    const texts = (rest + decoder.decode(bytes)).split("\n");
    rest = texts.pop() ?? "";
    for (const text of texts) yield JSON.parse(text) as WatchLine;
  }
  return undefined;
}

async function nextState(): Promise<string> {
  const { value } = await lines.next();
  if (value?.type !== "observation") throw new Error(`it is no observation: ${JSON.stringify(value)}`);
  return `${value.observation.id} ${value.observation.state}`;
}

test("the steps of a wake are reported as one change, and changes of others meanwhile at once", async () => {
  change("first", "starting", "waking");
  change("first", "running");
  change("second", "draining", "draining");
  expect(await nextState()).toBe("second draining");
  expect(await nextState()).toBe("first running");
  change("first", "draining", "draining");
  expect(await nextState()).toBe("first draining");
});

test("a wake that takes long is reported before its end, and its end at once", async () => {
  change("first", "starting", "waking");
  expect(await nextState()).toBe("first starting");
  change("first", "running");
  expect(await nextState()).toBe("first running");
});

test("records of a wake come after its report, also when other records are asked for meanwhile", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "pilvi-watch-"));
  const journal = new HostJournal(dataDir, null, createLog("test", "silent"));
  try {
    const order: string[] = [];
    const engine = { pid: process.pid, exited: new Promise<void>(() => undefined) };
    journal.of("second").started(engine);
    change("first", "starting", "waking");
    journal.of("first").started(engine);
    change("first", "running");
    await Promise.all([
      journal
        .after(0, end.signal)
        .then((records) => order.push(...records.map(({ id }) => `record of ${id}`))),
      nextState().then((state) => order.push(state)),
    ]);
    expect(order).toEqual(["first running", "record of second", "record of first"]);
  } finally {
    journal.close();
    rmSync(dataDir, { recursive: true });
  }
});

test("a wake that fails is reported at once", async () => {
  change("first", "starting", "waking");
  change("first", "failed");
  change("second", "running");
  expect([await nextState(), await nextState()]).toEqual(["first failed", "second running"]);
});
