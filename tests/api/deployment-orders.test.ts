// The reconciler of deployments, and orders of builds that their host cannot take now.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { BusyError } from "../../src/lib/errors.ts";
import { reconcileDeployment } from "../../src/resources/applications/deployments/reconciler.ts";
import { writeDeploymentStatus } from "../../src/resources/applications/deployments/store.ts";
import { SourceRefusal } from "../../src/sources/faults.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { deploymentsOf, newApplication, RUNTIMES, upload } from "../support/api/applications-api.ts";

let api: TestApi;
const removed: string[] = [];

beforeAll(async () => {
  api = await startApi();
  Object.assign(api.offer, { runtimes: RUNTIMES });
  Object.assign(api.host.driver, {
    observeBuild: () => Promise.resolve(null),
    removeBuild: (id: string) => Promise.resolve(void removed.push(id)),
    removeRelease: () => Promise.resolve(),
  });
});
afterAll(() => api.stop());

/** A deployment of an upload, with a function that runs its reconciler once. */
async function deployed() {
  const { environmentId } = await newApplication(api);
  const { id } = (await upload(api, `/environments/${environmentId}/uploads`)).body.data;
  return {
    id,
    status: async () => (await deploymentsOf(api, environmentId))[0]?.attributes,
    run: async () => {
      const { write } = await reconcileDeployment(api.context)(id, new AbortController().signal);
      if (write !== undefined) await api.db.begin(write);
    },
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

test("a host behind which too many builds wait is asked again later", async () => {
  const deployment = await deployed();
  api.host.driver.build = () => Promise.reject(new BusyError("Too many builds wait on this host."));
  const error = await deployment.run().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BusyError);
  expect(await deployment.status()).toMatchObject({ status: "build.pending", failure_reason: null });
});

test("a deployment that was cancelled leaves no order that its host is still receiving", async () => {
  const { id, run } = await deployed();
  await writeDeploymentStatus(api.db, id, "cancelled");
  removed.length = 0;
  await run();
  expect(removed).toEqual([id, `${id}-deploy`]);
});
