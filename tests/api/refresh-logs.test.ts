// What becomes of the log that a clone had in its archive, when it has taken over the data of a refresh.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { reconcileDatabaseCluster } from "../../src/resources/databases/reconciler.ts";
import { loadDatabaseCluster } from "../../src/resources/databases/store.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { DriverArchives, emptyState } from "../support/api/archives.ts";
import { ask, becomes, make, observed, SLEEPERS } from "../support/api/resources-api.ts";

const [, DATABASES] = SLEEPERS;

let api: TestApi;
let archives: DriverArchives;
beforeAll(async () => {
  api = await startApi();
  archives = new DriverArchives();
  Object.assign(api.host.driver, archives.driver);
});
afterAll(() => api.stop());

/** Has a clone take over the data of a refresh, which does not wake it. */
async function swap(type: string, hasArchive: boolean): Promise<unknown> {
  const { id: parent } = await make(api, DATABASES, { ...DATABASES.body, type });
  await becomes(api, "databases", parent, "available");
  const { body } = await ask(api, `${DATABASES.path}/${parent}/clone`, { json: { name: "clone" } });
  const { id } = body.data;
  await becomes(api, "databases", id, "available");
  await ask(api, `${DATABASES.path}/${id}/refresh`, { json: {} });
  await api.db`update databases set refresh = refresh || ${{ state: "swapping" }}::jsonb where id = ${id}`;
  if (hasArchive) archives.states.set(id, emptyState(id));
  archives.retentions.length = 0;
  api.host.driver.observe = api.host.driver.ensure = async () => observed(id, "asleep", { state: "asleep" });
  const outcome = await reconcileDatabaseCluster(api.context)(id, new AbortController().signal);
  await api.db.begin(async (tx) => await outcome.write?.(tx));
  return (await loadDatabaseCluster(api.db, id))?.refresh?.state;
}

test("the log of the former data is ended before the refresh is done, and no backup is deleted", async () => {
  expect(await swap("hosted_serverless_postgres", true)).toBe("done");
  expect(archives.retentions).toEqual([
    { keepFrom: "1970-01-01T00:00:00.000Z", keepBackups: [], endsLog: true },
  ]);
});

test("a clone without an archive, and that of a MySQL, have no such log", async () => {
  expect(await swap("hosted_serverless_postgres", false)).toBe("done");
  expect(archives.retentions).toEqual([]);
  expect(await swap("platform_mysql", true)).toBe("done");
  expect(archives.retentions).toEqual([]);
});
