// The owner of a cache learns why the host cannot find it idle, for as long as that is so.
import { expect, test } from "bun:test";
import { BeyondBounds } from "../../engines/engine-errors.ts";
import { createLog } from "../../lib/log.ts";
import { Condition } from "../manifest/instance-state.ts";
import type { SleepCycleParts } from "./sleep-cycle-parts.ts";
import { SleepCycle } from "./sleep-cycle.ts";

const REASON = "The names are too long.";
const USED = { idleSeconds: 0, connections: 1, ownConnections: 1 };

/** A sleep cycle of a running cache that listens by itself until it has slept. */
function sleepingLater() {
  const spec = {
    kind: "cache",
    users: [],
    sleepAfterSeconds: 60 as number | null,
    exposure: { port: 20_000, through: "gateway" },
  };
  const manifest = { spec, state: "awake", servedThrough: "engine", sleep: { since: "" } };
  const lifecycle = {
    isLeaving: false,
    state: { name: "running", wake: null, isApplied: false } as const,
    since: new Date(),
    report: () => {},
  };
  const answers: (() => unknown)[] = [];
  const engine = { usage: async () => answers.shift()?.() ?? USED, blockingActivity: async () => null };
  const runner = {
    runnable: { engine, context: { spec } },
    process: {} as object | null,
    end: async () => true,
  };
  let published = 0;
  const condition = new Condition(lifecycle, () => void (published += 1));
  const parts = {
    id: "cache-1",
    edge: {},
    file: { manifest, note: () => {}, change: async () => {} },
    runner,
    lifecycle,
    condition,
    address: { hold: async () => {} },
    gateway: { contact: Promise.resolve() },
    copies: { reasonToStayAwake: () => null },
    log: createLog("host", "silent"),
    leaving: new AbortController().signal,
    onIdle: () => {},
  };
  const sleep = new SleepCycle(parts as unknown as SleepCycleParts);
  /** Checks the use of an engine that answers so. */
  const check = async (answer: () => unknown = () => USED) => {
    answers.push(answer);
    await sleep.checkUse();
  };
  const reason = () => condition.observe("cache-1", { runnable: null, installed: null }, null).lastError;
  return { sleep, spec, runner, check, reason, published: () => published };
}

function throwing(error: Error): () => never {
  return () => {
    throw error;
  };
}

const tooMuch = throwing(new BeyondBounds(REASON));

test("the reason is published once, and withdrawn when the engine can be read again", async () => {
  const { check, reason, published } = sleepingLater();
  await check(tooMuch);
  await check(tooMuch);
  expect([reason(), published()]).toEqual([REASON, 1]);
  await check();
  expect([reason(), published()]).toEqual([null, 2]);
});

test("the reason is withdrawn when the cache is not to sleep any more", async () => {
  const { check, spec, reason } = sleepingLater();
  await check(tooMuch);
  expect(reason()).toBe(REASON);
  spec.sleepAfterSeconds = null;
  await check();
  expect(reason()).toBeNull();
});

test("the reason is withdrawn when the cache is put to sleep", async () => {
  const { check, sleep, reason } = sleepingLater();
  await check(tooMuch);
  expect(reason()).toBe(REASON);
  await sleep.suspend(false);
  expect(reason()).toBeNull();
});

test("an engine that does not answer, or ends meanwhile, is no reason for the owner", async () => {
  const { check, runner, reason } = sleepingLater();
  await check(throwing(new Error("the cache does not answer")));
  expect(reason()).toBeNull();
  await check(() => {
    runner.process = null;
    return tooMuch();
  });
  expect(reason()).toBeNull();
});
