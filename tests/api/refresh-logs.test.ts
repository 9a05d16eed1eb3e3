// What becomes of the log that a clone had in its archive, when it has taken over the data of a refresh.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { reconcileDatabaseCluster } from "../../src/resources/databases/reconciler.ts";
import { loadDatabaseCluster } from "../../src/resources/databases/store.ts";
import { sourceOf } from "../../src/resources/databases/backups/policy.ts";
import { ensureArchive } from "../../src/resources/shared/backups/archives.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { DriverArchives } from "../support/api/archives.ts";
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

/** A clone that has taken over the data of a refresh, which does not wake it. */
async function swapped(type: string, hasBackups: boolean): Promise<string> {
  const { id: parent } = await make(api, DATABASES, { ...DATABASES.body, type });
  await becomes(api, "databases", parent, "available");
  const { body } = await ask(api, `${DATABASES.path}/${parent}/clone`, { json: { name: "clone" } });
  const { id } = body.data;
  await becomes(api, "databases", id, "available");
  await ask(api, `${DATABASES.path}/${id}/refresh`, { json: {} });
  await api.db`update databases set refresh = refresh || ${{ state: "swapping" }}::jsonb where id = ${id}`;
  const cluster = await loadDatabaseCluster(api.db, id);
  if (cluster === null) throw new Error(`there is no ${id}`);
  if (hasBackups)
    await api.db.begin((tx) =>
      ensureArchive(tx, { ...cluster, kind: "databases", source: sourceOf(cluster) }),
    );
  archives.retentions.length = 0;
  api.host.driver.observe = api.host.driver.ensure = async () => observed(id, "asleep", { state: "asleep" });
  return id;
}

/** Has the reconciler end the refresh. @returns the state of the refresh. */
async function end(id: string): Promise<unknown> {
  const outcome = await reconcileDatabaseCluster(api.context)(id, new AbortController().signal);
  await api.db.begin(async (tx) => await outcome.write?.(tx));
  return (await loadDatabaseCluster(api.db, id))?.refresh?.state;
}

test("the log of the former data is ended before the refresh is done, and no backup is deleted", async () => {
  expect(await end(await swapped("hosted_serverless_postgres", true))).toBe("done");
  expect(archives.retentions).toEqual([
    { keepFrom: "1970-01-01T00:00:00.000Z", keepBackups: [], endsLog: true },
  ]);
});

test("a clone without backups, and that of a MySQL, have no such log", async () => {
  expect(await end(await swapped("hosted_serverless_postgres", false))).toBe("done");
  expect(await end(await swapped("platform_mysql", true))).toBe("done");
  expect(archives.retentions).toEqual([]);
});

test("the log stays for a restore that reads it, and the refresh is done after that", async () => {
  const id = await swapped("hosted_serverless_postgres", true);
  const { id: reader } = await make(api, DATABASES, DATABASES.body);
  await becomes(api, "databases", reader, "available");
  const origin = { from: { archive: id, at: "2026-03-15T08:18:53.204Z" } };
  await api.db`update databases set status = 'restoring', origin = ${origin}::jsonb where id = ${reader}`;
  await expect(end(id)).rejects.toThrow("A restore still reads the log");
  expect(archives.retentions).toEqual([]);
  await api.db`update databases set status = 'available' where id = ${reader}`;
  expect(await end(id)).toBe("done");
});
