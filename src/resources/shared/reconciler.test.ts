// The status that a run writes for an instance that sleeps, wakes or drains, and whether the run logs in, which would
// wake it.
import { expect, test } from "bun:test";
import type { Observation } from "../../contracts/observation.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { Database } from "../../store/database.ts";
import { hostDirectory, servedHost } from "./hosts.ts";
import { reconcileInstance } from "./reconciler.ts";
import { WatchedStates } from "./observed-states.ts";

type Row = { id: string; hostId: string; status: string };

const HOST = {
  id: "host-1",
  hostnames: { loopback: "127.0.0.1", public: "cloud.example" },
  isTls: false,
  portRange: { first: 21_000, last: 21_999 },
};

function seen(part: Partial<Observation>): Observation {
  return {
    id: "db-1",
    state: "running",
    since: "2026-03-15T08:18:53.204Z",
    engine: null,
    limits: null,
    lastError: null,
    crashes: 0,
    sleep: null,
    ...part,
  };
}

/** Runs once for an instance with this status; the driver reports the given state before and after `ensure`. */
async function run(status: string, first: Partial<Observation>, then = first) {
  const calls: string[] = [];
  const driver = {
    observe: async () => seen(first),
    async ensure() {
      calls.push("ensure");
      return seen(then);
    },
  } as unknown as Driver;
  let written: { status: string; isReached: boolean } | undefined;
  const reconcile = reconcileInstance<Row, "restarting">(
    { db: {} as Database, hosts: hostDirectory([servedHost({ ...HOST, driver }, new WatchedStates())]) },
    {
      load: async () => ({ id: "db-1", hostId: HOST.id, status }),
      specOf: () => ({}) as never,
      ensureLogin: async () => void calls.push("login"),
      write: async (_tx, _row, next, _seen, isReached) => void (written = { status: next, isReached }),
      erase: async () => {},
      lost: "restarting",
    },
  );
  const { result, write } = await reconcile("db-1", AbortSignal.timeout(1_000));
  await write?.({} as never);
  return { calls, written, isSettled: result !== "gone" && result.settled };
}

const waking: Partial<Observation> = {
  state: "starting",
  sleep: { state: "waking", since: "2026-03-15T08:18:53.204Z", lastWake: null, wakes: 1 },
};

test.each([
  ["asleep", { state: "asleep" }],
  ["draining", { state: "draining" }],
  ["waking", waking],
] as const)("an instance that is %s is available without a login", async (_state, part) => {
  for (const status of ["available", "updating", "restarting"]) {
    const { calls, written, isSettled } = await run(status, part);
    expect({ calls, written, isSettled }).toEqual({
      calls: ["ensure"],
      written: { status: "available", isReached: true },
      isSettled: true,
    });
  }
});

test("an instance that was woken for a change of its desired state is logged into", async () => {
  const { calls, written } = await run("updating", { state: "asleep" }, { state: "running" });
  expect(calls).toEqual(["ensure", "login"]);
  expect(written).toEqual({ status: "available", isReached: true });
});

test("an instance that fell asleep before its first login is woken by that login", async () => {
  const { calls, written } = await run("creating", { state: "asleep" });
  expect(calls).toEqual(["ensure", "login"]);
  expect(written?.status).toBe("available");
});

test("an instance that cannot be woken is no longer available", async () => {
  const failed = { state: "failed", lastError: "The disk is full." } as const;
  const { calls, written } = await run("available", failed);
  expect(calls).toEqual([]);
  expect(written).toEqual({ status: "restarting", isReached: false });
});

test("an instance whose engine ended is lost until it is repaired; a change under way keeps its status", async () => {
  const starting = { state: "starting" } as const;
  expect((await run("available", starting)).calls).toEqual([]);
  expect((await run("updating", starting)).written).toEqual({ status: "updating", isReached: false });
});

const pending: Partial<Observation> = { pendingDatabases: ["reports"] };

test("a cluster with a pending database is available and is requeued", async () => {
  const { calls, written, isSettled } = await run("restarting", pending);
  expect(calls).toEqual(["ensure", "login"]);
  expect(written).toEqual({ status: "available", isReached: true });
  expect(isSettled).toBe(false);
});

test("a cluster with a pending database is not kept awake by logins", async () => {
  const { calls, isSettled } = await run("available", pending);
  expect(calls).toEqual(["ensure"]);
  expect(isSettled).toBe(false);
});

test("a run that is given up waits for no removal", async () => {
  const givenUp = AbortSignal.abort();
  const waits: (AbortSignal | undefined)[] = [];
  const driver = {
    remove: async (_id: string, signal?: AbortSignal) => void waits.push(signal),
  } as unknown as Driver;
  const reconcile = reconcileInstance<Row, "restarting">(
    { db: {} as Database, hosts: hostDirectory([servedHost({ ...HOST, driver }, new WatchedStates())]) },
    {
      load: async () => ({ id: "db-1", hostId: HOST.id, status: "deleting" }),
      beforeRemoval: async (_row, _driver, signal) => void waits.push(signal),
      specOf: () => ({}) as never,
      ensureLogin: async () => {},
      write: async () => {},
      erase: async () => {},
      lost: "restarting",
    },
  );
  await reconcile("db-1", givenUp);
  expect(waits).toEqual([givenUp, givenUp]);
});
