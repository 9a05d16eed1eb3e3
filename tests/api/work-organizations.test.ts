// Work in the queue has the organization that it is done for, whatever made it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { enqueueEnvironment } from "../../src/resources/applications/work.ts";
import { enqueueRefresh } from "../../src/resources/databases/refreshes/store.ts";
import { beginAction } from "../../src/resources/shared/actions/store.ts";
import { ensureArchive } from "../../src/resources/shared/backups/archives.ts";
import { insertSnapshot } from "../../src/resources/shared/backups/snapshots.ts";
import { startApi, validCache, validDatabase, validServer, type TestApi } from "../support/api/api.ts";
import { newApplication, upload } from "../support/api/applications-api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

async function create(path: string, json: object): Promise<string> {
  const response = await api.request(`/api${path}`, { method: "POST", json });
  return ((await response.json()) as { data: { id: string } }).data.id;
}

test("work of each kind whose runs may be long has the organization of its resource", async () => {
  const id = await create("/databases/clusters", validDatabase);
  await create("/caches", validCache);
  await create("/websocket-servers", validServer);
  const { environmentId } = await newApplication(api);
  await upload(api, `/environments/${environmentId}/uploads`);
  const [{ organizationId }] = await api.db`select organization_id as "organizationId" from databases`;
  const { id: hostId } = api.host;
  const archive = { id, organizationId, hostId, kind: "databases" } as const;
  await api.db.begin(async (tx) => {
    await enqueueEnvironment(tx, { id: environmentId, hostId });
    await enqueueRefresh(tx, { id, hostId });
    const requestedBy = "token-1";
    await beginAction(tx, { type: "suspend", resourceId: id, hostId, requestedBy, deadlineSeconds: 60 });
    await ensureArchive(tx, { ...archive, source: { name: "shop" } as never });
    const about = { name: null, description: null, type: "manual" } as const;
    await insertSnapshot(tx, { ...archive, ...about, id: "backup-1", archiveId: id });
  });
  const rows = await api.db<{ kind: string; organizationId: string | null }[]>`
    select kind, organization_id as "organizationId" from work order by kind`;
  const without = rows.filter((row) => row.organizationId !== organizationId).map(({ kind }) => kind);
  expect(without).toEqual(["archives"]);
  expect(rows.map(({ kind }) => kind)).toEqual([
    "actions",
    "archives",
    "caches",
    "databases",
    "deployments",
    "environments",
    "refreshes",
    "snapshots",
    "websockets",
  ]);
});
