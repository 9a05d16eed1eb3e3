// What becomes of the processes of a deployment that has failed, where nothing has served before.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { EdgeRoute } from "../../src/contracts/edge-route.ts";
import { newId } from "../../src/lib/ids.ts";
import { endDeployment } from "../../src/resources/applications/deployments/end.ts";
import {
  insertDeployment,
  loadDeployment,
  writeDeploymentStatus,
} from "../../src/resources/applications/deployments/store.ts";
import { insertProcess, processesOf } from "../../src/resources/applications/environments/processes.ts";
import { reconcileEnvironment } from "../../src/resources/applications/environments/reconciler.ts";
import { loadEnvironment, type EnvironmentRow } from "../../src/resources/applications/environments/store.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication } from "../support/api/applications-api.ts";

let api: TestApi;
let environment: EnvironmentRow;
/** What the host was told, in order. */
let told: string[];

beforeAll(async () => {
  api = await startApi();
  Object.assign(api.host.driver, {
    ensureRoute: async ({ instances }: EdgeRoute) => void told.push(`route to ${instances.length}`),
    remove: async (id: string) => void told.push(`remove ${id}`),
  });
});

afterAll(() => api.stop());

beforeEach(async () => {
  told = [];
  const { environmentId } = await newApplication(api);
  const row = await loadEnvironment(api.db, environmentId);
  if (row === undefined) throw new Error("no environment");
  environment = row;
});

/** The first deployment has failed, and its control plane was killed before it removed the process. */
async function cutShort(): Promise<string> {
  const id = newId("depl");
  const { settings } = environment;
  const common = { branch: "main", commit: null, initiatorId: null, settings, releaseOf: null };
  await api.db.begin((tx) => insertDeployment(tx, { id, environmentId: environment.id, ...common }));
  await writeDeploymentStatus(api.db, id, "deployment.running");
  const process = { id: newId("proc"), deploymentId: id, digest: "digest", sealedSpec: "sealed" };
  await api.db.begin(async (tx) => {
    await insertProcess(tx, environment, process, { ports: [20_500, 20_501, 20_502], limit: 0 });
    const row = await loadDeployment(tx, id);
    if (row === undefined) throw new Error("no deployment");
    await endDeployment(tx, row, { status: "deployment.failed", reason: "It did not answer." });
  });
  return process.id;
}

const reconcile = async () =>
  await reconcileEnvironment(api.context)(environment.id, new AbortController().signal);

test("a kill while the first deployment fails leaves neither its process nor a route to it", async () => {
  const id = await cutShort();
  expect(await reconcile()).toMatchObject({ result: { settled: true } });
  expect(told).toEqual(["route to 0", `remove ${id}`]);
  expect(await processesOf(api.db, environment.id)).toEqual([]);
  await reconcile();
  expect(told).toHaveLength(2);
});

test("an environment without a deployment gets no route", async () => {
  expect(await reconcile()).toMatchObject({ result: { settled: true } });
  expect(told).toEqual([]);
});
