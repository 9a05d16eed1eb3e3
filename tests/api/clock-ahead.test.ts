// What a clock that was ahead once has left in the store: the horizon of the usage lies in the future.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createLog } from "../../src/lib/log.ts";
import { takeRecords } from "../../src/resources/shared/events/intake.ts";
import { pruneEvents } from "../../src/resources/shared/events/retention.ts";
import { rollUp } from "../../src/resources/shared/usage/roll-up.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";

let api: TestApi;
let id: string;
beforeAll(async () => {
  api = await startApi();
  const response = await api.request("/api/caches", { json: validCache });
  id = ((await response.json()) as { data: { id: string } }).data.id;
  const record = { sequence: 1, id, at: new Date().toISOString(), type: "started", details: {} } as const;
  await takeRecords(api.db, "host-1", [record], createLog("test", "silent"));
});
afterAll(() => api.stop());

beforeEach(async () => {
  await api.db`update usage_horizon set events_since = now() + interval '1 year'`;
});

test("the usage goes on with the present day", async () => {
  await rollUp(api.db);
  const days = await api.db<{ isPresent: boolean }[]>`
    select day between current_date - 1 and current_date + 1 as "isPresent" from usage_days where resource_id = ${id}`;
  expect(days.map(({ isPresent }) => isPresent)).toContain(true);
  expect(days.map(({ isPresent }) => isPresent)).not.toContain(false);
});

test("no event is deleted that is not old, and the horizon comes back to the present", async () => {
  await api.db`update events set at = now() - interval '3 days'`;
  expect(await pruneEvents(api.db, 90, 10)).toBe(0);
  const [row] = await api.db`select events_since <= now() as "isPast" from usage_horizon`;
  expect(row.isPast).toBe(true);
  await api.db`update events set at = now() - interval '91 days'`;
  expect(await pruneEvents(api.db, 90, 10)).toBeGreaterThan(0);
});
