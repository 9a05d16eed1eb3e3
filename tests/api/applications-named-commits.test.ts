// Deployments of a named commit of a repository elsewhere, of which Pilvi has fetched nothing or only a later commit.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { DeploymentResource } from "../../src/resources/applications/deployments/schema.ts";
import { reconcileDeployment } from "../../src/resources/applications/deployments/reconciler.ts";
import { SourceRefusal } from "../../src/sources/faults.ts";
import type { Repository } from "../../src/sources/repository.ts";
import { serveRepository, type GitServer } from "../../src/sources/test-server.ts";
import { openRepository, streamed, tarOf, testFolder, TEXT } from "../../src/sources/test-support.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import {
  changeEnvironment,
  deploymentsOf,
  type MadeApplication,
  newApplication,
  RUNTIMES,
  SOURCE,
} from "../support/api/applications-api.ts";

const folder = testFolder();
const BUILD_REASON = "The build was not ordered.";

let api: TestApi;
let origin: Repository;
let server: GitServer;

beforeAll(async () => {
  api = await startApi({ mayReachItself: true });
  Object.assign(api.offer, { runtimes: RUNTIMES });
  Object.assign(api.host.driver, {
    observeBuild: () => Promise.resolve(null),
    // A deployment that comes so far has its commit and its plan.
    build: () => Promise.reject(new SourceRefusal(BUILD_REASON)),
    removeBuild: () => Promise.resolve(),
    removeRelease: () => Promise.resolve(),
    release: () => Promise.resolve(null),
  });
  origin = await openRepository(folder.path);
  server = serveRepository(origin);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await api.stop();
  folder[Symbol.dispose]();
});

async function commit(message: string, branch = "main"): Promise<string> {
  return await origin.commitUpload(streamed(tarOf(SOURCE)), `refs/heads/${branch}`, { ...TEXT, message });
}

/** An application that has fetched the newest commit of its repository. */
async function fetched(): Promise<MadeApplication> {
  const made = await newApplication(api, { repository: server.url });
  expect((await api.request(`/api/environments/${made.environmentId}/plan`)).status).toBe(200);
  return made;
}

/** Runs the reconciler of the latest deployment once. */
async function run({
  environmentId,
}: MadeApplication): Promise<DeploymentResource["attributes"] | undefined> {
  const [{ id } = { id: "" }] = await deploymentsOf(api, environmentId);
  const { write } = await reconcileDeployment(api.context)(id, new AbortController().signal);
  if (write !== undefined) await api.db.begin(write);
  return (await deploymentsOf(api, environmentId))[0]?.attributes;
}

async function deploy({ environmentId }: MadeApplication, hash: string): Promise<Response> {
  return await api.request(`/api/environments/${environmentId}/deployments`, { json: { commit_hash: hash } });
}

test("a hook deploys a commit that was just pushed to the server of the repository", async () => {
  await commit("before");
  const made = await fetched();
  const { meta } = await changeEnvironment(api, made.environmentId, { uses_deploy_hook: true });
  const path = meta.deploy_hook_url ?? "";
  const hash = await commit("pushed");
  await commit("pushed later");
  const answer = await api.request(`${path}?commit_hash=${hash}`, { method: "POST", token: null });
  expect(answer.status).toBe(201);
  const { data } = (await answer.json()) as { data: DeploymentResource };
  expect(data.attributes).toMatchObject({ status: "pending", commit_hash: hash, commit_message: null });
  expect(await run(made)).toMatchObject({
    commit_hash: hash,
    commit_message: "pushed",
    failure_reason: BUILD_REASON,
  });
});

test("an older commit is deployed by its whole hash and by the beginning of it", async () => {
  const hash = await commit("older");
  for (let count = 0; count < 60; count += 1) await commit(`later ${count}`);
  for (const name of [hash, hash.slice(0, 10)]) {
    const made = await fetched();
    expect((await deploy(made, name)).status).toBe(201);
    expect(await run(made)).toMatchObject({
      commit_hash: hash,
      commit_message: "older",
      failure_reason: BUILD_REASON,
    });
  }
});

test("a commit that the branch does not have fails its deployment with the reason", async () => {
  await commit("known");
  const other = await commit("elsewhere", "other");
  const made = await fetched();
  for (const hash of ["0".repeat(40), other, "0123abc"]) {
    expect((await deploy(made, hash)).status).toBe(201);
    expect(await run(made)).toMatchObject({
      status: "failed",
      commit_hash: hash,
      failure_reason: `The branch main of the repository has no commit ${hash} among its latest 1,000 commits.`,
    });
  }
});

test("a plan of an older commit fetches it", async () => {
  const hash = await commit("planned");
  await commit("later");
  const { environmentId } = await fetched();
  const planned = await api.request(`/api/environments/${environmentId}/plan?commit_hash=${hash}`);
  expect([planned.status, ((await planned.json()) as { data: { id: string } }).data.id]).toEqual([200, hash]);
});

test("a commit that was deployed before and is gone from the copy is fetched again", async () => {
  const hash = await commit("deployed");
  const made = await fetched();
  await deploy(made, hash);
  expect(await run(made)).toMatchObject({ failure_reason: BUILD_REASON });
  await commit("later");
  await api.context.repositories.remove(made.id);
  await api.request(`/api/environments/${made.environmentId}/start`, { json: { redeploy: true } });
  expect(await run(made)).toMatchObject({ commit_hash: hash, failure_reason: BUILD_REASON });
});
