// Changes of desired state and results of runs lock the same rows, and never make each other fail.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { complete, claim } from "../../src/reconciler/queue.ts";
import { allOn } from "../../src/reconciler/test-support.ts";
import {
  lockEnvironment,
  writeCurrentDeployment,
  writeRefusal,
} from "../../src/resources/applications/environments/store.ts";
import { enqueueEnvironment } from "../../src/resources/applications/work.ts";
import { writeProgress } from "../../src/resources/shared/rows.ts";
import type { ApplicationResource } from "../../src/sdk/index.ts";
import { startApi, validCache, validDatabase, validServer, type TestApi } from "../support/api/api.ts";
import { inTransaction, untilSomebodyWaits } from "../support/api/locks.ts";

const OWNER = 7;

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const servers = "/api/websocket-servers";
const schemas = (id: string) => `/api/databases/clusters/${id}/databases`;

test.each([
  [
    "delete a cache",
    "caches",
    "/api/caches",
    validCache,
    (id: string) => api.request(`/api/caches/${id}`, { method: "DELETE" }),
    204,
  ],
  [
    "delete a cluster",
    "databases",
    "/api/databases/clusters",
    validDatabase,
    (id: string) => api.request(`/api/databases/${id}`, { method: "DELETE" }),
    204,
  ],
  [
    "create a schema",
    "databases",
    "/api/databases/clusters",
    validDatabase,
    (id: string) => api.request(schemas(id), { json: { name: "reports" } }),
    201,
  ],
  [
    "change a WebSocket cluster",
    "websockets",
    servers,
    validServer,
    (id: string) => api.request(`${servers}/${id}`, { method: "PATCH", json: { max_connections: 200 } }),
    200,
  ],
  [
    "delete a WebSocket cluster",
    "websockets",
    servers,
    validServer,
    (id: string) => api.request(`${servers}/${id}`, { method: "DELETE" }),
    204,
  ],
  [
    "create an application",
    "websockets",
    servers,
    validServer,
    (id: string) => api.request(`${servers}/${id}/applications`, { json: { name: "website" } }),
    201,
  ],
] as const)("to %s while an outcome is being written", async (_what, kind, path, json, answerOf, status) => {
  const created = await api.request(path, { json });
  const { id } = ((await created.json()) as { data: { id: string } }).data;
  const job = (await claim(api.db, OWNER, allOn("host-1"), 100)).find((taken) => taken.id === id);
  if (job === undefined) throw new Error("a new resource is due");
  let answer: Promise<Response> | undefined;
  await inTransaction(api.db, async (tx) => {
    expect(await complete(tx, OWNER, job, { settled: true })).toBe("given");
    answer = answerOf(id);
    await untilSomebodyWaits(api.db);
    await writeProgress(tx, kind, id, "available", { engine: null, limits: null, lastError: null });
  });
  expect((await answer)?.status).toBe(status);
  const [work] = await api.db`select run_at <= now() as due from work where id = ${id}`;
  expect(work.due).toBe(true);
});

/** An application with its first environment, as the store has it. */
async function application(name: string) {
  const created = await api.request("/api/applications", { json: { name, region: "eu-central-1" } });
  const { data } = (await created.json()) as { data: ApplicationResource };
  const [environment] = data.relationships.environments.data;
  const [row] = await api.db<{ organizationId: string; hostId: string }[]>`
    select organization_id as "organizationId", host_id as "hostId" from applications where id = ${data.id}`;
  if (row === undefined || environment === undefined) throw new Error("no application");
  return { ...row, path: `/api/applications/${data.id}`, environmentId: environment.id };
}

test("to delete an application while one of its environments changes", async () => {
  const { path, organizationId, hostId, environmentId } = await application("Web shop");
  let answer: Promise<Response> | undefined;
  await inTransaction(api.db, async (tx) => {
    await lockEnvironment(tx, organizationId, environmentId);
    answer = api.request(path, { method: "DELETE" });
    await untilSomebodyWaits(api.db);
    // The store checks what a row refers to when its transaction changes it a second time.
    await writeCurrentDeployment(tx, environmentId, "depl-1");
    await writeRefusal(tx, environmentId, null);
    await enqueueEnvironment(tx, { id: environmentId, hostId });
  });
  expect((await answer)?.status).toBe(204);
});

test("to delete an application while one of its environments is being removed", async () => {
  const { path, environmentId } = await application("Blog");
  await api.db`update environments set status = 'deleting' where id = ${environmentId}`;
  let answer: Promise<Response> | undefined;
  await inTransaction(api.db, async (tx) => {
    await tx`delete from work where kind = 'environments' and id = ${environmentId}`;
    await tx`update environments set status = 'deleting' where id = ${environmentId}`;
    answer = api.request(path, { method: "DELETE" });
    expect((await answer).status).toBe(204);
  });
});
