// The wake interval of a deployed application: it wakes by itself after it has slept for so long, once, also when
// processes of Pilvi are killed around that moment.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Driver } from "../../../src/drivers/driver.ts";
import { localDriver } from "../../../src/drivers/local/index.ts";
import { hostSocket } from "../../../src/host/os/layout.ts";
import { createLog } from "../../../src/lib/log.ts";
import type { EventResource } from "../../../src/sdk/index.ts";
import type { Database } from "../../../src/store/database.ts";
import { openStore } from "../../crash/inspection.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { Failpoints, startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

/** The API takes whole minutes, so the tests write a shorter interval into the store. */
const INTERVAL_SECONDS = 2;

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let application: TestApplication;
let store: Database;
let driver: Driver;
let instance: string;
let worker: string;
let wakesBefore = 0;

beforeAll(async () => {
  pilvi = await startPilvi({ env: failpoints.env });
  application = await TestApplication.create(pilvi);
  store = await openStore(pilvi);
  driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("test", "error") });
  await application.deploy({ ...bunServer("awake"), Procfile: "worker: sleep 996\n" });
  await until("the worker runs beside the server", async () => {
    const route = (await driver.routes()).find(({ id }) => id === application.environmentId);
    [instance = "", worker = ""] = route?.instances ?? [];
    return worker !== "" && (await driver.observe(worker)).state === "running";
  });
}, 60_000);

beforeEach(async () => {
  wakesBefore = (await observed()).sleep?.wakes ?? 0;
});

afterEach(async () => {
  failpoints.release();
  await order({ hibernation_wake_up_interval: null });
});

afterAll(async () => {
  failpoints.release();
  await store.close();
  await pilvi.close();
  failpoints.close();
});

async function order(settings: object): Promise<void> {
  const path = `/environments/${application.environmentId}`;
  expect(await pilvi.api("PATCH", path, settings)).toMatchObject({ status: 200 });
}

/** Puts the environment to sleep. @returns since when it sleeps. */
async function fallAsleep(): Promise<number> {
  await Promise.all([instance, worker].map((id) => driver.suspend(id)));
  return Date.parse((await observed()).sleep?.since ?? "");
}

/** Has the environment wake after the interval of these tests. */
async function wakeAfterInterval(): Promise<void> {
  await store`
    update environments
    set settings = settings || jsonb_build_object('hibernation_wake_up_interval', ${INTERVAL_SECONDS / 60}::float8)
    where id = ${application.environmentId}`;
  await order({ color: "green" });
}

/** Puts the environment to sleep, to wake after the interval of these tests. @returns since when it sleeps. */
async function sleepWithInterval(): Promise<number> {
  const sinceMs = await fallAsleep();
  await wakeAfterInterval();
  return sinceMs;
}

async function observed() {
  return await driver.observe(instance);
}

async function untilAwake(): Promise<void> {
  await until("it is awake", async () => (await observed().catch(() => null))?.state === "running");
}

async function wakeEvents(): Promise<EventResource[]> {
  const path = `/events?filter[resource]=${application.environmentId}&filter[type]=awake`;
  return (await pilvi.api<{ data: EventResource[] }>("GET", path)).body.data;
}

test("an environment wakes once it has slept for the interval, with its background processes", async () => {
  const sinceMs = await fallAsleep();
  // With the interval it could be awake again before anyone has seen that it hibernates.
  await until("it hibernates", async () => {
    const { attributes } = await application.environment();
    return attributes.status === "hibernating";
  });
  await wakeAfterInterval();
  await untilAwake();
  await until("its worker runs", async () => (await driver.observe(worker)).state === "running");
  const { sleep } = await observed();
  expect(sleep).toMatchObject({
    wakes: wakesBefore + 1,
    lastWake: { reason: { user: "pilvi", application: "wake interval", address: "" } },
  });
  const sleptMs = Date.parse(sleep?.lastWake?.at ?? "") - sinceMs;
  expect(sleptMs).toBeGreaterThanOrEqual(INTERVAL_SECONDS * 1_000);
  await until("its event is there", async () => (await wakeEvents()).length > 0);
  expect((await wakeEvents())[0]?.attributes).toMatchObject({
    details: { user: "pilvi", application: "wake interval" },
  });
  await until("the log says why", async () => {
    const query = `query=${encodeURIComponent("for its wake interval")}`;
    const { body } = await pilvi.api<{ data: unknown[] }>(
      "GET",
      `/environments/${application.environmentId}/logs?${query}`,
    );
    return body.data.length > 0;
  });
  expect(await application.text()).toBe("awake");
  await driver.suspend(instance);
  await until("it wakes after the next sleep as well", async () => {
    return (await observed()).sleep?.wakes === wakesBefore + 2;
  });
}, 60_000);

test.each([
  ["control", "environment.woken", ["control"]],
  ["host", "environment.woken", ["host"]],
  ["both", "environment.woken", ["control", "host"]],
  ["host", "host.start.noted", ["host"]],
] as const)(
  "a kill of %s at %s neither loses nor repeats a wake",
  async (_victim, step, victims) => {
    failpoints.arm(step);
    await sleepWithInterval();
    await failpoints.reached();
    pilvi.kill(...victims);
    failpoints.release();
    await pilvi.untilReady();
    await untilAwake();
    // The next look at the environment is over: it finds the environment awake, and is due again after the interval.
    await until("the work is settled", async () => {
      const [work] = await store<{ isSettled: boolean }[]>`
        select deadline_at is null and owner is null and run_at > now() as "isSettled" from work
        where id = ${application.environmentId}`;
      return work?.isSettled === true;
    });
    expect((await observed()).sleep?.wakes).toBe(wakesBefore + 1);
    expect(await application.text()).toBe("awake");
  },
  60_000,
);

test("an interval that ends while Pilvi does not run wakes the environment at its next start, once", async () => {
  const sinceMs = await sleepWithInterval();
  await pilvi.stop();
  await until("the interval is over", () => Date.now() > sinceMs + INTERVAL_SECONDS * 1_000);
  await pilvi.start();
  await untilAwake();
  expect((await observed()).sleep?.wakes).toBe(wakesBefore + 1);
}, 60_000);

test("an environment without an interval sleeps on", async () => {
  await driver.suspend(instance);
  await order({ color: "blue" });
  await until("it is looked at", async () => {
    const [work] = await store<{ runAt: string }[]>`
      select run_at::text as "runAt" from work where id = ${application.environmentId} and deadline_at is null`;
    return work?.runAt === "infinity";
  });
  expect((await observed()).state).toBe("asleep");
}, 60_000);
