// The reconciler of deployments, and orders of builds that their host cannot take now.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { BusyError } from "../../src/lib/errors.ts";
import { claim, complete } from "../../src/reconciler/queue.ts";
import { beginDeployment } from "../../src/resources/applications/deployments/begin.ts";
import { lockDeployable } from "../../src/resources/applications/deployments/create.ts";
import type { DeploymentResource } from "../../src/resources/applications/deployments/schema.ts";
import { reconcileDeployment } from "../../src/resources/applications/deployments/reconciler.ts";
import { writeDeploymentStatus } from "../../src/resources/applications/deployments/store.ts";
import { loadEnvironment } from "../../src/resources/applications/environments/store.ts";
import { SourceRefusal } from "../../src/sources/faults.ts";
import type { Transaction } from "../../src/store/database.ts";
import type { BuildSpec } from "../../src/contracts/builds.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { deploymentsOf, newApplication, RUNTIMES, upload } from "../support/api/applications-api.ts";

let api: TestApi;
const removed: string[] = [];

beforeAll(async () => {
  api = await startApi({ mayReachItself: true });
  Object.assign(api.offer, { runtimes: RUNTIMES });
  Object.assign(api.host.driver, {
    observeBuild: () => Promise.resolve(null),
    removeBuild: (id: string) => Promise.resolve(void removed.push(id)),
    removeRelease: () => Promise.resolve(),
  });
});
afterAll(() => api.stop());

/** A git server that takes requests and never answers. */
function silentServer() {
  const { promise: asked, resolve } = Promise.withResolvers<{ hasLeft: Promise<unknown> }>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: (request) => {
      resolve({ hasLeft: new Promise((left) => request.signal.addEventListener("abort", left)) });
      return new Promise<Response>(() => {});
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/app.git`,
    /** The first request, with the end of its client. */
    asked,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

async function deploy(environmentId: string): Promise<DeploymentResource> {
  const response = await api.request(`/api/environments/${environmentId}/deployments`, { json: {} });
  return ((await response.json()) as { data: DeploymentResource }).data;
}

async function readDeployment(id: string) {
  const response = await api.request(`/api/deployments/${id}`);
  return ((await response.json()) as { data: DeploymentResource }).data.attributes;
}

/** A deployment of an upload, with a function that runs its reconciler once. */
async function deployed() {
  const { environmentId } = await newApplication(api);
  const { id } = (await upload(api, `/environments/${environmentId}/uploads`)).body.data;
  return {
    id,
    environmentId,
    status: async () => (await deploymentsOf(api, environmentId))[0]?.attributes,
    run: async () => {
      const { write } = await reconcileDeployment(api.context)(id, new AbortController().signal);
      if (write !== undefined) await api.db.begin(write);
    },
  };
}

/** Runs the work of a deployment as the loop does. @returns the write of its outcome, with the end of the work. */
async function takeWork(id: string): Promise<(tx: Transaction) => Promise<void>> {
  const jobs = await claim(api.db, 1, { hostIds: [api.host.id], kinds: { among: ["deployments"] } }, 100);
  const job = jobs.find((each) => each.id === id);
  if (job === undefined) throw new Error(`the work of ${id} is not due`);
  const { result, write } = await reconcileDeployment(api.context)(id, new AbortController().signal);
  return async (tx) => {
    if ((await complete(tx, 1, job, result)) === "given") await write?.(tx);
  };
}

/** Does a task in a transaction, which stays open until the returned function is called. */
async function heldOpen(task: (tx: Transaction) => Promise<unknown>): Promise<() => Promise<void>> {
  const [done, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const over = api.db.begin(async (tx) => {
    await task(tx);
    done.resolve();
    await commit.promise;
  });
  await Promise.race([done.promise, over]);
  return async () => {
    commit.resolve();
    await over;
  };
}

test("a source that cannot be sent fails its deployment with the reason", async () => {
  const deployment = await deployed();
  api.host.driver.build = () => Promise.reject(new SourceRefusal("The files could not be read."));
  await deployment.run();
  expect(await deployment.status()).toMatchObject({
    status: "failed",
    failure_reason: "The files could not be read.",
  });
});

test("a build gets the variables that its environment names, and keeps their values out of its output", async () => {
  const deployment = await deployed();
  const { environmentId } = deployment;
  const path = `/api/environments/${environmentId}`;
  const variables = [
    { key: "NPM_TOKEN", value: "hidden" },
    { key: "OTHER", value: "kept" },
  ];
  await api.request(`${path}/variables`, { json: { method: "set", variables } });
  const named = await api.request(path, { method: "PATCH", json: { build_variables: ["NPM_TOKEN"] } });
  expect(await named.json()).toMatchObject({ data: { meta: { build_variables: ["NPM_TOKEN"] } } });
  const refused = await api.request(path, { method: "PATCH", json: { build_variables: ["NPM-TOKEN"] } });
  expect(refused.status).toBe(422);
  let spec: BuildSpec | undefined;
  api.host.driver.build = (ordered) => {
    spec = ordered;
    return Promise.reject(new SourceRefusal("That is enough."));
  };
  await deployment.run();
  expect(spec).toMatchObject({ variables: { NPM_TOKEN: "hidden" }, secrets: ["NPM_TOKEN"] });
  expect(spec?.variables).not.toHaveProperty("OTHER");
});

test("a request that waits for a success is answered when the deployment has failed", async () => {
  const deployment = await deployed();
  const held = api.request(`/api/deployments/${deployment.id}?wait=deployment.succeeded`);
  api.host.driver.build = () => Promise.reject(new SourceRefusal("The files could not be read."));
  await deployment.run();
  const { data } = (await (await held).json()) as { data: DeploymentResource };
  expect(data.attributes.status).toBe("failed");
  // The answer would be held for a minute.
}, 30_000);

test("a host behind which too many builds wait is asked again later", async () => {
  const deployment = await deployed();
  api.host.driver.build = () => Promise.reject(new BusyError("Too many builds wait on this host."));
  const error = await deployment.run().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BusyError);
  expect(await deployment.status()).toMatchObject({ status: "build.pending", failure_reason: null });
});

test("a deployment that is cancelled while its git server says nothing ends with its git", async () => {
  await using server = silentServer();
  const { environmentId } = await newApplication(api, { repository: server.url });
  const { id } = await deploy(environmentId);
  const run = reconcileDeployment(api.context)(id, new AbortController().signal);
  const { hasLeft } = await server.asked;
  await writeDeploymentStatus(api.db, id, "cancelled");
  await hasLeft;
  expect(await run).toEqual({ result: "gone" });
  expect(await readDeployment(id)).toMatchObject({ status: "cancelled", failure_reason: null });
});

test("a deployment that was cancelled leaves no order that its host is still receiving", async () => {
  const { id, run } = await deployed();
  await writeDeploymentStatus(api.db, id, "cancelled");
  removed.length = 0;
  await run();
  expect(removed).toEqual([id, `${id}-deploy`]);
});

test("a deployment that begins while the deployment before it fails looks again by itself", async () => {
  api.host.driver.build = () => Promise.reject(new SourceRefusal("The files could not be read."));
  const { environmentId } = await newApplication(api);
  const first = (await upload(api, `/environments/${environmentId}/uploads`)).body.data.id;
  const found = await loadEnvironment(api.db, environmentId);
  if (found === undefined) throw new Error("there is no environment");
  const writeFailure = await takeWork(first);
  let second = "";
  const commitSecond = await heldOpen(async (tx) => {
    const environment = await lockDeployable(tx, found.organizationId, environmentId);
    const order = { environment, commit: null, initiatorId: null, releaseOf: null };
    second = await beginDeployment(tx, order);
  });
  // The end of the first does not see the second, and the run of the second does not see that end.
  const commitFailure = await heldOpen(writeFailure);
  await commitSecond();
  await api.db.begin(await takeWork(second));
  await commitFailure();
  expect(await readDeployment(first)).toMatchObject({ status: "failed" });
  expect(await readDeployment(second)).toMatchObject({ status: "pending" });
  const [work] = await api.db`select run_at < 'infinity' as "looksAgain" from work where id = ${second}`;
  expect(work).toEqual({ looksAgain: true });
});
