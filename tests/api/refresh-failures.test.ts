// A refresh whose data cannot be made yet: how long it is tried again.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { reconcileRefreshes } from "../../src/resources/databases/refreshes/reconciler.ts";
import { loadDatabaseCluster } from "../../src/resources/databases/store.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { DriverArchives } from "../support/api/archives.ts";
import { ask, becomes, make, observed, SLEEPERS } from "../support/api/resources-api.ts";

const [, DATABASES] = SLEEPERS;
const AWAY = "The keeper of backups does not answer.";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  Object.assign(api.host.driver, new DriverArchives().driver);
});
afterAll(() => api.stop());

/** A clone that is being refreshed; the order has an age. */
async function refreshing(ageMinutes: number): Promise<string> {
  const { id: parent } = await make(api, DATABASES, DATABASES.body);
  await becomes(api, "databases", parent, "available");
  const { body } = await ask(api, `${DATABASES.path}/${parent}/clone`, { json: { name: "clone" } });
  const { id } = body.data;
  await becomes(api, "databases", id, "available");
  await ask(api, `${DATABASES.path}/${id}/refresh`, { json: {} });
  await age(id, "startedAt", ageMinutes);
  return id;
}

async function age(id: string, member: string, minutes: number): Promise<void> {
  const at = new Date(Date.now() - minutes * 60_000).toISOString();
  await api.db`update databases set refresh = refresh || ${{ [member]: at }}::jsonb where id = ${id}`;
}

async function run(id: string): Promise<unknown> {
  await reconcileRefreshes(api.context)(id, new AbortController().signal);
  return (await loadDatabaseCluster(api.db, id))?.refresh?.state;
}

test("a refresh of large data outlives a keeper that is away, and is given up when that stays away", async () => {
  api.host.driver.ensure = async ({ id }) => observed(id, "failed", null, { lastError: AWAY });
  const id = await refreshing(60);
  // The first run gives the stage an address.
  for (const attempt of [1, 2, 3]) expect([attempt, await run(id)]).toEqual([attempt, "building"]);
  await age(id, "failingSince", 11);
  expect(await run(id)).toBe("failed");
  expect((await loadDatabaseCluster(api.db, id))?.refresh?.error).toBe(AWAY);
});
