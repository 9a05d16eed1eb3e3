// What a restore of everything writes into the rows of resources that have no backup.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { prepareRows } from "../../src/processes/restore/rows.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { make, SLEEPERS } from "../support/api/resources-api.ts";

const [CACHES, DATABASES] = SLEEPERS;

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

test("a cluster without a backup is lost, also when the rows are prepared once more", async () => {
  await make(api, CACHES, { ...CACHES.body, name: "sessions" });
  await make(api, DATABASES, { ...DATABASES.body, name: "orders" });
  for (const table of ["caches", "databases"]) await api.db`update ${api.db(table)} set status = 'available'`;
  const driver = { ...api.host.driver, archives: async () => [] };
  const lost = ["orders has no backup: its data is lost."];
  const first = await prepareRows(api.db, driver);
  expect([first.lost, first.losses]).toEqual([lost, ["sessions has no backup: it comes back empty."]]);
  expect(first.resources.map(({ name }) => name)).toEqual(["sessions"]);
  expect((await prepareRows(api.db, driver)).lost).toEqual(lost);
});
