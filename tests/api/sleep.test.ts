// Sleep in the API's answers, and suspending by the API. Tests with real engines cover the driver's part.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Wake } from "../../src/contracts/sleep.ts";
import type { Driver } from "../../src/drivers/driver.ts";
import { PublicError } from "../../src/lib/errors.ts";
import type { Loop } from "../../src/reconciler/loop.ts";
import { sleepGauges } from "../../src/resources/shared/sleep-gauges.ts";
import { startApi, UNSEEN, validCache, validDatabase, type TestApi } from "../support/api/api.ts";
import { startActions } from "../support/api/actions.ts";
import { documentOf, expectDocumented } from "../support/api/openapi.ts";
import {
  ask,
  audited,
  becomes,
  make,
  observed,
  SLEEPERS,
  type Sleeper,
} from "../support/api/resources-api.ts";

const [CACHES, DATABASES] = SLEEPERS;
const SINCE = "2026-03-15T08:18:53.204Z";
const LATER = "2026-03-15T08:20:00.000Z";

const WAKE: Wake = {
  at: SINCE,
  reason: { user: "app", database: "main", address: "127.0.0.1:53312" },
  spansMs: { accept: 0.2, auth: 2, start: 5, ready: 30.5, login: 3 },
};

let api: TestApi;
let idle: Driver;
let loop: Loop;
beforeAll(async () => {
  api = await startApi();
  idle = { ...api.host.driver };
  loop = await startActions(api);
});
afterEach(() => {
  Object.assign(api.host.driver, idle);
});
afterAll(async () => {
  await loop.stop();
  await api.stop();
});

async function available(sleeper: Sleeper, json: object = sleeper.body): Promise<string> {
  const { id } = await make(api, sleeper, json);
  await becomes(api, sleeper.kind, id, "available");
  return id;
}

const suspend = (path: string, id: string, token = api.token) =>
  ask(api, `${path}/${id}/suspend`, { method: "POST", token });

const metaOf = async (sleeper: Sleeper, id: string) =>
  (await ask(api, `${sleeper.path}/${id}`)).body.data.meta;

describe.each(SLEEPERS)("meta.sleep of $kind", (sleeper) => {
  test("is awake before the driver has reported the instance", async () => {
    const { meta } = await make(api, sleeper, sleeper.body);
    expect(meta.sleep).toEqual(UNSEEN);
  });

  test("shows the driver's last report, without a call to the driver", async () => {
    const id = await available(sleeper);
    api.host.observedStates.note(observed(id, "running", { wakes: 1, lastWake: WAKE }));
    const { reason, spansMs, at } = WAKE;
    expect((await metaOf(sleeper, id)).sleep).toMatchObject({
      state: "awake",
      since: SINCE,
      wakes: 1,
      last_wake: { at, reason: { ...reason, application: null }, spans_ms: spansMs },
    });
    const own = { ...WAKE, reason: { user: "pilvi", address: "" } };
    api.host.observedStates.note(observed(id, "running", { wakes: 2, lastWake: own }));
    const nobody = { user: "pilvi", database: null, application: null, address: null };
    expect((await metaOf(sleeper, id)).sleep).toMatchObject({ last_wake: { reason: nobody } });
    for (const state of ["draining", "asleep", "waking"] as const) {
      const engine = state === "waking" ? "starting" : state;
      api.host.observedStates.note(observed(id, engine, { state, since: LATER }));
      expect((await metaOf(sleeper, id)).sleep).toMatchObject({ state, since: LATER, last_wake: null });
    }
    api.host.observedStates.note(observed(id, "absent", null));
    expect((await metaOf(sleeper, id)).sleep).toEqual(UNSEEN);
  });

  test("of an engine that listens by itself is awake since its start", async () => {
    const id = await available(sleeper);
    api.host.observedStates.note(observed(id, "running", null));
    expect((await metaOf(sleeper, id)).sleep).toMatchObject({ state: "awake", since: SINCE, wakes: 0 });
  });

  test("comes with the reason why a sleeping instance could not wake", async () => {
    const id = await available(sleeper);
    api.host.observedStates.note(
      observed(id, "asleep", { state: "asleep" }, { lastError: "The disk is full." }),
    );
    expect((await metaOf(sleeper, id)).last_error).toBe("The disk is full.");
    api.host.observedStates.note(observed(id, "running", {}, { lastError: "It cannot save." }));
    expect((await metaOf(sleeper, id)).last_error).toBe("It cannot save.");
    api.host.observedStates.note(observed(id, "running", {}));
    expect((await metaOf(sleeper, id)).last_error).toBeNull();
  });

  test("is answered as documented", async () => {
    const id = await available(sleeper);
    api.host.observedStates.note(observed(id, "asleep", { state: "asleep", wakes: 2, lastWake: WAKE }));
    const document = await documentOf(api);
    const response = await api.request(`${sleeper.path}/${id}`);
    await expectDocumented(document, `${sleeper.path.replace("/api", "")}/{id}`, "get", response);
  });
});

describe.each([CACHES, DATABASES, { ...DATABASES, path: "/api/databases" } as const])(
  "POST $path/:id/suspend",
  ({ path, kind }) => {
    const sleeper = kind === "caches" ? CACHES : DATABASES;

    test("answers when the instance sleeps, and leaves a row in the audit", async () => {
      const id = await available(sleeper);
      const asked: string[] = [];
      api.host.driver.suspend = async (which) => {
        asked.push(which);
        return observed(which, "asleep", { state: "asleep", since: LATER });
      };
      const { status, body } = await suspend(path, id);
      expect(status).toBe(200);
      expect(body.data).toMatchObject({
        id,
        attributes: { status: "available" },
        meta: { sleep: { state: "asleep", since: LATER } },
      });
      expect((await metaOf(sleeper, id)).sleep).toMatchObject({ state: "asleep" });
      expect((await suspend(path, id)).status).toBe(200);
      expect(asked).toEqual([id, id]);
      expect((await audited(api, id)).map(({ action }) => action)).toEqual(["create", "suspend", "suspend"]);
    });

    test("does not undo a later report of the watch", async () => {
      const id = await available(sleeper);
      api.host.driver.suspend = async (which) => {
        api.host.observedStates.note(observed(which, "running", { since: LATER }, { since: LATER }));
        return observed(which, "asleep", { state: "asleep" });
      };
      expect((await suspend(path, id)).body.data.meta.sleep).toMatchObject({ state: "awake", since: LATER });
    });

    test("reports why the instance cannot sleep now", async () => {
      const id = await available(sleeper);
      api.host.driver.observe = async (which) => observed(which, "running");
      api.host.driver.suspend = async () => {
        throw new PublicError("A transaction of app is open.");
      };
      const { status, body } = await suspend(path, id);
      expect({ status, body }).toMatchObject({
        status: 409,
        body: { message: "A transaction of app is open." },
      });
    });

    test("reports a host that is away", async () => {
      const id = await available(sleeper);
      api.host.driver.suspend = () => Promise.reject(new PublicError("The host does not answer."));
      api.host.driver.observe = api.host.driver.suspend;
      const response = await api.request(`${path}/${id}/suspend`, { method: "POST" });
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("2");
    });

    test.each(["creating", "updating", "unknown"])("refuses a resource that is %s", async (state) => {
      const id = await available(sleeper);
      await becomes(api, kind, id, state);
      const { status, body } = await suspend(path, id);
      expect(status).toBe(409);
      expect(body.message).toContain(`is ${state};`);
    });

    test("refuses a resource that is being deleted, of another organization, or unknown", async () => {
      const id = await available(sleeper);
      expect((await suspend(path, id, await api.newToken(["*"], "others"))).status).toBe(404);
      expect((await suspend(path, id, await api.newToken([`${kind}:read`]))).status).toBe(403);
      expect((await suspend(path, `${id.slice(0, -1)}x`)).status).toBe(404);
      await api.request(`${path}/${id}`, { method: "DELETE" });
      const { status, body } = await suspend(path, id);
      expect(status).toBe(409);
      expect(body.message).toEndWith("is being deleted.");
      expect(await audited(api, id)).toMatchObject([{ action: "create" }, { action: "delete" }]);
    });

    test("is answered as documented", async () => {
      const document = await documentOf(api);
      const documented = `${path.replace("/api", "")}/{id}/suspend`;
      const id = await available(sleeper);
      api.host.driver.suspend = async (which) => observed(which, "asleep", { state: "asleep" });
      const send = () => api.request(`${path}/${id}/suspend`, { method: "POST" });
      const answers = [await send()];
      await becomes(api, kind, id, "updating");
      answers.push(await send());
      expect(answers.map(({ status }) => status)).toEqual([200, 409]);
      for (const answer of answers) await expectDocumented(document, documented, "post", answer);
    });
  },
);

test.each([
  ["a cache that does not hibernate", CACHES, validCache, "uses_hibernation"],
  ["a managed type", DATABASES, { ...validDatabase, type: "provider_managed_postgres" }, "never sleep"],
  [
    "a pro size",
    DATABASES,
    { ...validDatabase, type: "platform_mysql", config: { size: "mysql-pro-4gb" } },
    "mysql-pro-4gb never sleeps",
  ],
] as const)("%s is never put to sleep", async (_what, sleeper, json, reason) => {
  const { status, body } = await suspend(sleeper.path, await available(sleeper, json));
  expect(status).toBe(409);
  expect(body.message).toContain(reason);
});

test.each([
  ["serverless Postgres", { ...validDatabase, config: { suspend_seconds: 0 } }],
  ["a flex size of MySQL", { ...validDatabase, type: "platform_mysql" }],
] as const)("%s that does not sleep by itself is put to sleep by hand", async (_what, json) => {
  api.host.driver.suspend = async (which) => observed(which, "asleep", { state: "asleep" });
  expect((await suspend(DATABASES.path, await available(DATABASES, json))).status).toBe(200);
});

test("metrics count sleeping instances and wakes, from memory", async () => {
  const [cache, cluster] = [await available(CACHES), await available(DATABASES)];
  api.host.observedStates.keepOnly([]);
  api.host.observedStates.note(observed(cache, "asleep", { state: "asleep" }));
  api.host.observedStates.note(observed(cluster, "running", { wakes: 3, lastWake: WAKE }));
  api.host.observedStates.note(observed("ws-1", "running", null));
  const shown = (await sleepGauges.read(api.context)).map(
    ({ name, labels, value }) => `${name} ${Object.values(labels).join(" ")} ${value}`,
  );
  expect(shown.sort()).toEqual(
    [
      `pilvi_sleeping caches 1`,
      `pilvi_sleeping databases 0`,
      `pilvi_wakes_total caches ${cache} 0`,
      `pilvi_wakes_total databases ${cluster} 3`,
      `pilvi_last_wake_seconds databases ${cluster} accept 0.0002`,
      `pilvi_last_wake_seconds databases ${cluster} auth 0.002`,
      `pilvi_last_wake_seconds databases ${cluster} start 0.005`,
      `pilvi_last_wake_seconds databases ${cluster} ready 0.0305`,
      `pilvi_last_wake_seconds databases ${cluster} login 0.003`,
    ].sort(),
  );
});

/** The rank of an instance's wake among 6,000; the ranks differ from the order of the ids. */
const rankOf = (n: number) => (n * 7_919) % 6_000;
const idOf = (n: number) => `cache-${String(n).padStart(8, "0")}`;

test("metrics name the instances that were woken last when there are too many, and sum up all", async () => {
  const many = await startApi();
  many.app.metrics.addFigures(sleepGauges, many.context);
  for (let n = 0; n < 6_000; n += 1) {
    const at = new Date(1_700_000_000_000 + rankOf(n) * 1_000).toISOString();
    many.host.observedStates.note(
      observed(idOf(n), "asleep", { state: "asleep", wakes: 1, lastWake: { ...WAKE, at } }),
    );
  }
  const linesOf = async (token: string | null) =>
    (await (await many.request("/metrics", { token })).text())
      .split("\n")
      .filter((line) => line.startsWith("pilvi_"));
  const named = (await linesOf(many.token)).filter((line) => line.startsWith("pilvi_wakes_total"));
  expect(named.length).toBe(5_000);
  expect(Math.min(...named.map((line) => rankOf(Number(/cache-(\d+)/.exec(line)?.[1]))))).toBe(1_000);
  expect(await linesOf(null)).toContain('pilvi_wakes_total{kind="caches"} 6000');
  expect(await linesOf(many.token)).toContain('pilvi_sleeping{kind="caches"} 6000');
  await many.stop();
});
