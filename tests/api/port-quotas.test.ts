// The ports of a host that a family of organizations may have, whatever of its resources takes them.
import { afterEach, expect, test } from "bun:test";
import { createLog } from "../../src/lib/log.ts";
import { newId } from "../../src/lib/ids.ts";
import { planOf } from "../../src/plan/plan.ts";
import { NO_SETTINGS, sourceOf } from "../../src/plan/test-source.ts";
import {
  insertDeployment,
  loadDeployment,
  writeDeploymentStatus,
} from "../../src/resources/applications/deployments/store.ts";
import { Loop, type Reconcile } from "../../src/reconciler/loop.ts";
import { sessionOf } from "../../src/reconciler/test-support.ts";
import { reconcileEnvironment } from "../../src/resources/applications/environments/reconciler.ts";
import { loadEnvironment } from "../../src/resources/applications/environments/store.ts";
import { reconcileReplicas } from "../../src/resources/databases/replicas/reconciler.ts";
import { enqueueReplicas, REPLICAS } from "../../src/resources/databases/replicas/store.ts";
import { reconcileRefreshes } from "../../src/resources/databases/refreshes/reconciler.ts";
import { loadDatabaseCluster } from "../../src/resources/databases/store.ts";
import { eraseRow } from "../../src/resources/shared/rows.ts";
import { startApi, validCache, validDatabase, validServer, type TestApi } from "../support/api/api.ts";
import { newApplication, RUNTIMES } from "../support/api/applications-api.ts";
import { DriverArchives } from "../support/api/archives.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { ask, becomes, make, observed, SLEEPERS } from "../support/api/resources-api.ts";

const SIX_PORTS = { first: 21_000, last: 21_005 };

let api: TestApi;
afterEach(() => api.stop());

const start = async (ports: number) =>
  void (api = await startApi({ portRange: SIX_PORTS, quotas: { ports } }));

const create = (token = api.token) => ask(api, "/api/caches", { json: validCache, token });

const excess = (limit: number, used: number, more = "") =>
  `The organization may have ${limit} ports and has ${used}${more}. Delete something, or have the operator raise PILVI_QUOTA_PORTS.`;

const done: Reconcile = async () => ({ result: { settled: true } });

async function shownPorts(): Promise<{ limit: number | null; used: number }> {
  const response = await api.request("/api/meta/organization");
  const { data } = (await response.json()) as { data: { meta: { quotas: { ports: never } } } };
  return data.meta.quotas.ports;
}

test("creates at once take no more than the limit, and another organization has the rest", async () => {
  await start(3);
  const answers = await Promise.all(Array.from({ length: 12 }, () => create()));
  const made = answers.filter(({ status }) => status === 201);
  expect(made).toHaveLength(3);
  const refused = answers.find(({ status }) => status !== 201);
  expect([refused?.status, refused?.body.errors]).toEqual([422, { type: [excess(3, 3)] }]);
  for (const [path, json] of [
    ["/api/databases/clusters", validDatabase],
    ["/api/websocket-servers", validServer],
  ] as const)
    expect((await ask(api, path, { json })).body.errors).toEqual({ type: [excess(3, 3)] });
  const other = await api.newToken(["*"], "another");
  for (let count = 0; count < 3; count += 1) expect((await create(other)).status).toBe(201);
  expect(await shownPorts()).toEqual({ limit: 3, used: 3 });
  await api.db.begin((tx) => eraseRow(tx, "caches", made[0]?.body.data.id ?? ""));
  expect((await create()).status).toBe(201);
});

test("organizations of one family share the limit", async () => {
  await start(2);
  const token = await api.newToken(["*"], "tenant");
  const second = await api.newToken(["*"], "second");
  await api.db`
    update organizations set origin_id = (select id from organizations where name = 'tenant')
    where name = 'second'`;
  expect((await create(token)).status).toBe(201);
  expect((await create(second)).status).toBe(201);
  const { status, body } = await create(token);
  expect(status).toBe(422);
  expect(body.errors?.type?.[0]).toStartWith(
    "The organization and those that share its quotas may have 2 ports",
  );
  expect((await create()).status).toBe(201);
});

test("read replicas are refused that have no ports", async () => {
  await start(3);
  const path = "/api/databases/clusters";
  const config = { uses_pitr: true, deployment_option: "single-az-with-read-replicas" };
  const managed = { ...validDatabase, type: "provider_managed_postgres" };
  const order = (read_replicas: number) => ({ ...managed, config: { ...config, read_replicas } });
  const field = "config.read_replicas";
  const refused = await ask(api, path, { json: order(3) });
  expect(refused.body.errors).toEqual({ [field]: [excess(3, 1, ", and this takes 3 more")] });
  const { body } = await ask(api, path, { json: order(1) });
  const change = async (read_replicas: number) =>
    await ask(api, `${path}/${body.data.id}`, { method: "PATCH", json: { config: { read_replicas } } });
  expect((await change(3)).body.errors).toHaveProperty([field]);
  expect((await change(2)).status).toBe(200);
});

test("a replica whose port was taken meanwhile is missed by its cluster, and the others go on", async () => {
  await start(3);
  const path = "/api/databases/clusters";
  const config = { uses_pitr: true, deployment_option: "single-az-with-read-replicas", read_replicas: 2 };
  const json = { ...validDatabase, type: "provider_managed_postgres", config };
  const { id } = (await ask(api, path, { json })).body.data;
  await create();
  const ensured: string[] = [];
  const earliestRestoreTime = new Date().toISOString();
  Object.assign(api.host.driver, {
    archive: async () => ({ log: { earliestRestoreTime } }),
    ensure: async (spec: { id: string }) => (ensured.push(spec.id), observed(spec.id, "running")),
  });
  const loop = new Loop({
    db: api.db,
    openSession: (onClose) => sessionOf(api.db, onClose),
    hostIds: [api.host.id],
    reconcilers: new Map([
      [REPLICAS, reconcileReplicas(api.context)],
      ...["databases", "caches"].map((kind) => [kind, done] as const),
    ]),
    slowKinds: [REPLICAS],
    log: createLog("test", "silent"),
  });
  await api.db.begin((tx) => enqueueReplicas(tx, { id, hostId: api.host.id }));
  await loop.start();
  const shown = async () => (await ask(api, `${path}/${id}`)).body.data.meta;
  await until("the cluster says why", async () => (await shown()).last_error === excess(3, 3));
  await loop.stop();
  const { replicas } = (await loadDatabaseCluster(api.db, id)) ?? {};
  expect(replicas?.map((replica) => replica.id)).toEqual(ensured);
});

test("replicas of an application are refused that have no ports", async () => {
  await start(2);
  const { environmentId } = await newApplication(api);
  const instances = await ask(api, `/api/environments/${environmentId}/instances`);
  const [instance] = instances.body.data as never as { id: string }[];
  const scale = async (count: number) => {
    const json = { min_replicas: count, max_replicas: count };
    return await ask(api, `/api/instances/${instance?.id}`, { method: "PATCH", json });
  };
  await create();
  const { status, body } = await scale(3);
  expect([status, body.errors]).toEqual([422, { max_replicas: [excess(2, 1, ", and this takes 2 more")] }]);
  expect((await scale(2)).status).toBe(200);
});

test("a deployment fails whose processes get no ports, and says why", async () => {
  await start(1);
  await create();
  const { environmentId } = await newApplication(api);
  const environment = await loadEnvironment(api.db, environmentId);
  if (environment === undefined) throw new Error("no environment");
  api.host.driver.ensure = async ({ id }) => observed(id, "running");
  const id = newId("depl");
  const { settings } = environment;
  const common = { branch: "main", commit: null, initiatorId: null, settings, releaseOf: null };
  const plan = await planOf(sourceOf({ "server.js": "", "package.json": "{}" }), NO_SETTINGS, RUNTIMES);
  await api.db.begin((tx) => insertDeployment(tx, { id, environmentId, ...common }));
  await api.db`update deployments set plan = ${plan}::jsonb where id = ${id}`;
  await writeDeploymentStatus(api.db, id, "deployment.running");
  await reconcileEnvironment(api.context)(environmentId, new AbortController().signal);
  expect(await loadDeployment(api.db, id)).toMatchObject({
    status: "deployment.failed",
    failureReason: excess(1, 1),
  });
});

test("a refresh fails whose stage gets no port, and says why", async () => {
  await start(2);
  Object.assign(api.host.driver, new DriverArchives().driver);
  const [, { path, body }] = SLEEPERS;
  const { id: parent } = await make(api, SLEEPERS[1], body);
  await becomes(api, "databases", parent, "available");
  const { id } = (await ask(api, `${path}/${parent}/clone`, { json: { name: "clone" } })).body.data;
  await becomes(api, "databases", id, "available");
  await ask(api, `${path}/${id}/refresh`, { json: {} });
  await reconcileRefreshes(api.context)(id, new AbortController().signal);
  expect((await loadDatabaseCluster(api.db, id))?.refresh).toMatchObject({
    state: "failed",
    error: excess(2, 2),
  });
});
