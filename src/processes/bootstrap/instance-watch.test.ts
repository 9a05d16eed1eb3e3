// The watch of a host's instances: the moment from which every observed state is known.
import { expect, test } from "bun:test";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { WatchEvents } from "../../drivers/driver.ts";
import { createLog } from "../../lib/log.ts";
import { HOST, queueStore } from "../../reconciler/test-support.ts";
import { WatchedStates } from "../../resources/shared/observed-states.ts";
import { watchInstances } from "./instance-watch.ts";

const SLEEPING: Observation = {
  id: "db-1",
  state: "asleep",
  crashes: 0,
  since: "2026-11-23T00:00:00.000Z",
  lastError: null,
  engine: null,
  limits: null,
  sleep: null,
};

test("the watch is ready once every instance was observed, not when the first observation arrives", async () => {
  const db = await queueStore();
  let events: WatchEvents | undefined;
  const host = {
    id: HOST,
    driver: { watch: (given: WatchEvents) => void (events = given) },
    observedStates: new WatchedStates(),
  };
  const ended = new AbortController();
  const order: string[] = [];
  const ready = watchInstances({ db, host }, ended.signal, createLog("test", "silent")).then(() =>
    order.push("ready"),
  );
  events?.changed(SLEEPING);
  await db`select 1`;
  order.push("observed");
  events?.synced([SLEEPING.id]);
  await ready;
  expect(order).toEqual(["observed", "ready"]);
  expect(host.observedStates.of(SLEEPING.id)?.state).toBe("asleep");
  ended.abort();
  await db.close();
});

test("the watch begins anew after an observation that could not be passed on", async () => {
  const db = await queueStore();
  const watches: { events: WatchEvents; signal: AbortSignal }[] = [];
  const host = {
    id: HOST,
    driver: { watch: (events: WatchEvents, signal: AbortSignal) => void watches.push({ events, signal }) },
    observedStates: new WatchedStates(),
  };
  const ended = new AbortController();
  void watchInstances({ db, host, restartMs: 1 }, ended.signal, createLog("test", "silent"));
  expect(watches.length).toBe(1);
  await db.close();
  watches[0]?.events.changed(SLEEPING);
  await until("the watch began anew", () => watches.length === 2);
  expect(watches.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  watches[1]?.events.synced([]);
  await until("it began anew once more", () => watches.length === 3);
  expect(host.observedStates.of(SLEEPING.id)).toBeUndefined();
  ended.abort();
  expect(watches.every(({ signal }) => signal.aborted)).toBe(true);
});
