// Environments are locked in the order of their ids, whatever needs several of them, and quotas after events.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eraseApplication, loadApplication } from "../../src/resources/applications/store.ts";
import {
  eraseEnvironment,
  loadEnvironment,
  lockEnvironment,
} from "../../src/resources/applications/environments/store.ts";
import { eraseCache } from "../../src/resources/caches/store.ts";
import { eraseDatabaseCluster } from "../../src/resources/databases/store.ts";
import { insertAllocation } from "../../src/resources/shared/allocations.ts";
import { recordEvent } from "../../src/resources/shared/events/record.ts";
import { eraseWebSocketCluster } from "../../src/resources/websockets/store.ts";
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

/** An application with two environments, the first of which stands behind the second in the table. */
async function twoEnvironments(): Promise<{ id: string; first: string; second: string }> {
  const { id, environmentId: first } = await newApplication(api);
  const second = await create(`/applications/${id}/environments`, { name: "staging", branch: "next" });
  await api.db`update environments set branch = 'main' where id = ${first}`;
  // Postgres reads a table that it knows to be small from its beginning.
  await api.db`analyze environments`;
  return { id, first, second };
}

/** Has something begin that needs both environments, after the first was locked and before the second is. */
async function lockBoth(
  { first, second }: { first: string; second: string },
  begin: () => Promise<unknown>,
): Promise<void> {
  let done: Promise<unknown> | undefined;
  await inTransaction(api.db, async (tx) => {
    await lockEnvironment(tx, organizationId, first);
    done = begin();
    await untilSomebodyWaits(api.db);
    await lockEnvironment(tx, organizationId, second);
  });
  await done;
}

test("the deletion of an application locks its environments in their order", async () => {
  const { id, ...environments } = await twoEnvironments();
  let status = 0;
  await lockBoth(environments, async () => {
    status = (await api.request(`/api/applications/${id}`, { method: "DELETE" })).status;
  });
  expect(status).toBe(204);
});

test("the removal of a cache locks the environments that use it in their order", async () => {
  const environments = await twoEnvironments();
  const cache = await create("/caches", validCache);
  await api.db`update environments set cache_id = ${cache} where id = ${environments.second}`;
  await api.db`update environments set cache_id = ${cache} where id = ${environments.first}`;
  await lockBoth(environments, () => api.db.begin((tx) => eraseCache(tx, cache)));
  expect(await api.db`select from environments where cache_id = ${cache}`).toHaveLength(0);
});

test("the removal of a cluster locks the environments that use its databases in their order", async () => {
  const environments = await twoEnvironments();
  const cluster = await create("/databases/clusters", validDatabase);
  const schemas = [];
  for (const name of ["orders", "reports"])
    schemas.push(await create(`/databases/clusters/${cluster}/databases`, { name }));
  await api.db`update environments set database_schema_id = ${schemas[0]} where id = ${environments.second}`;
  await api.db`update environments set database_schema_id = ${schemas[1]} where id = ${environments.first}`;
  await lockBoth(environments, () => api.db.begin((tx) => eraseDatabaseCluster(tx, cluster)));
  expect(await api.db`select from environments where database_schema_id is not null`).toHaveLength(0);
});

test("the removal of a WebSocket cluster locks the environments that use its applications in their order", async () => {
  const environments = await twoEnvironments();
  const server = await create("/websocket-servers", validServer);
  const applications = [];
  for (const name of ["chat", "news"])
    applications.push(await create(`/websocket-servers/${server}/applications`, { name }));
  await api.db`
    update environments set websocket_application_id = ${applications[0]} where id = ${environments.second}`;
  await api.db`
    update environments set websocket_application_id = ${applications[1]} where id = ${environments.first}`;
  await lockBoth(environments, () => api.db.begin((tx) => eraseWebSocketCluster(tx, server)));
  expect(await api.db`select from environments where websocket_application_id is not null`).toHaveLength(0);
});

/** Has a removal begin after the event of a new cache was written, and before the cache takes its part of the quotas. */
async function takeFromQuotas(erase: (tx: Transaction) => Promise<void>): Promise<void> {
  const id = Bun.randomUUIDv7();
  const principal = { kind: "session", organizationId } as Parameters<typeof insertAllocation>[1];
  let done: Promise<unknown> | undefined;
  await inTransaction(api.db, async (tx) => {
    await recordEvent(tx, {
      organizationId,
      type: "created",
      resource: { type: "caches", id, name: "sessions" },
    });
    done = api.db.begin(erase);
    await untilSomebodyWaits(api.db);
    await insertAllocation(tx, principal, {
      kind: "caches",
      id,
      allocation: { memoryBytes: 1, connections: 0 },
    });
  });
  await done;
}

/** Records what something of an application takes on the disk. */
async function recordBytes(resourceId: string): Promise<void> {
  await api.db`
    insert into allocations (resource_id, organization_id, kind, memory_bytes, storage_bytes)
    values (${resourceId}, ${organizationId}, 'applications', 0, 1000)`;
}

test("the removal of an environment returns what its releases take after its event", async () => {
  const { environmentId } = await newApplication(api);
  await recordBytes(`releases-${environmentId}`);
  const environment = await loadEnvironment(api.db, environmentId);
  if (environment === undefined) throw new Error("no environment");
  await takeFromQuotas((tx) => eraseEnvironment(tx, environment));
  expect(await loadEnvironment(api.db, environmentId)).toBeUndefined();
});

test("the removal of an application returns what its repository takes after its event", async () => {
  const { id, environmentId } = await newApplication(api);
  const environment = await loadEnvironment(api.db, environmentId);
  const application = await loadApplication(api.db, id);
  if (environment === undefined || application === undefined) throw new Error("no application");
  await api.db.begin((tx) => eraseEnvironment(tx, environment));
  await recordBytes(`repository-${id}`);
  await takeFromQuotas((tx) => eraseApplication(tx, application));
  expect(await loadApplication(api.db, id)).toBeUndefined();
});
