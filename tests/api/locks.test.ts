// Changes of desired state and results of runs lock the same rows, and never make each other fail.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { complete, claim } from "../../src/reconciler/queue.ts";
import { allOn } from "../../src/reconciler/test-support.ts";
import { writeProgress } from "../../src/resources/shared/rows.ts";
import { startApi, validCache, validDatabase, validServer, type TestApi } from "../support/api/api.ts";

const OWNER = 7;

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

/** Resolves when a statement waits for a lock. */
async function untilSomebodyWaits(): Promise<void> {
  for (;;) {
    const [row] = await api.db`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    if (row.waiting > 0) return;
  }
}

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
  await api.db.begin(async (tx) => {
    expect(await complete(tx, OWNER, job, { settled: true })).toBe("given");
    answer = answerOf(id);
    await untilSomebodyWaits();
    await writeProgress(tx, kind, id, "available", { engine: null, limits: null, lastError: null });
  });
  expect((await answer)?.status).toBe(status);
  const [work] = await api.db`select run_at <= now() as due from work where id = ${id}`;
  expect(work.due).toBe(true);
});
