// Requests that refer to what is being removed at the same moment wait for the removal, and then find it gone.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { lockEnvironment } from "../../src/resources/applications/environments/store.ts";
import { DEFAULT_SIZE } from "../../src/resources/applications/instances/sizes.ts";
import { eraseInstance } from "../../src/resources/applications/instances/store.ts";
import { eraseCache } from "../../src/resources/caches/store.ts";
import { eraseDatabases } from "../../src/resources/databases/schemas/store.ts";
import { eraseApplications } from "../../src/resources/websockets/applications/store.ts";
import type { Transaction } from "../../src/store/database.ts";
import { startApi, validCache, validDatabase, validServer, type TestApi } from "../support/api/api.ts";
import { newApplication } from "../support/api/applications-api.ts";
import { inTransaction, untilSomebodyWaits } from "../support/api/locks.ts";

let api: TestApi;
let organizationId: string;

beforeAll(async () => {
  api = await startApi();
  const [row] = await api.db<{ id: string }[]>`select id from organizations`;
  if (row === undefined) throw new Error("no organization");
  organizationId = row.id;
});

afterAll(() => api.stop());

async function create(path: string, json: object): Promise<string> {
  const response = await api.request(`/api${path}`, { json });
  return ((await response.json()) as { data: { id: string } }).data.id;
}

/** Has a request begin while a removal is under way. @returns its answer, which comes after the removal. */
async function during(remove: (tx: Transaction) => Promise<unknown>, begin: () => Promise<Response>) {
  let answer: Promise<Response> | undefined;
  await inTransaction(api.db, async (tx) => {
    await remove(tx);
    answer = begin();
    await Promise.race([answer, untilSomebodyWaits(api.db)]);
  });
  const response = await answer;
  return { status: response?.status, body: (await response?.json()) as { errors?: object; message: string } };
}

test("a background process of an instance that is being deleted", async () => {
  const { environmentId } = await newApplication(api);
  const path = `/environments/${environmentId}/instances`;
  const instance = await create(path, {
    name: "Workers",
    type: "service",
    size: DEFAULT_SIZE,
    scaling_type: "none",
  });
  const { status, body } = await during(
    async (tx) => {
      await lockEnvironment(tx, organizationId, environmentId);
      await eraseInstance(tx, instance);
    },
    async () =>
      await api.request(`/api/instances/${instance}/background-processes`, {
        json: { type: "custom", processes: 1, command: "node worker.js" },
      }),
  );
  expect([status, body.message]).toEqual([404, "There is no such instance."]);
});

const cache = async () => await create("/caches", validCache);

const schema = async () => {
  const cluster = await create("/databases/clusters", validDatabase);
  return await create(`/databases/clusters/${cluster}/databases`, { name: "orders" });
};

const webSocketApplication = async () => {
  const server = await create("/websocket-servers", validServer);
  return await create(`/websocket-servers/${server}/applications`, { name: "chat" });
};

test.each([
  ["cache_id", "caches", cache, eraseCache],
  [
    "database_schema_id",
    "database_schemas",
    schema,
    (tx: Transaction, id: string) => eraseDatabases(tx, [id]),
  ],
  [
    "websocket_application_id",
    "websocket_servers",
    webSocketApplication,
    (tx: Transaction, id: string) => eraseApplications(tx, [id]),
  ],
] as const)("an environment that attaches by %s what is being removed", async (field, table, make, erase) => {
  const { environmentId } = await newApplication(api);
  const id = await make();
  await api.db`update ${api.db.unsafe(table)} set status = 'available'`;
  const { status, body } = await during(
    async (tx) => await erase(tx, id),
    async () =>
      await api.request(`/api/environments/${environmentId}`, { method: "PATCH", json: { [field]: id } }),
  );
  expect([status, body.errors]).toEqual([
    422,
    { [field]: ["The organization has no resource with this id."] },
  ]);
});
