// The default branch of a repository elsewhere: the first deployment learns it from its server.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { loadDeployment, writeBranch } from "../../src/resources/applications/deployments/store.ts";
import { loadEnvironment } from "../../src/resources/applications/environments/store.ts";
import { branchOf } from "../../src/resources/applications/sources/default-branch.ts";
import { loadApplication } from "../../src/resources/applications/store.ts";
import type { ApplicationResource } from "../../src/sdk/index.ts";
import { serveRepository, type GitServer } from "../../src/sources/test-server.ts";
import { git, openRepository, streamed, tarOf, testFolder, TEXT } from "../../src/sources/test-support.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { deploymentsOf, newApplication, SOURCE } from "../support/api/applications-api.ts";

const folder = testFolder();
/** Nobody cancels these deployments. */
const SIGNAL = new AbortController().signal;

let api: TestApi;
let server: GitServer;

beforeAll(async () => {
  api = await startApi({ mayReachItself: true });
  const origin = await openRepository(folder.path);
  for (const branch of ["master", "next"])
    await origin.commitUpload(streamed(tarOf(SOURCE)), `refs/heads/${branch}`, TEXT);
  await git(origin.path, "symbolic-ref", "HEAD", "refs/heads/master");
  server = serveRepository(origin);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await api.stop();
  folder[Symbol.dispose]();
});

/** An application with a deployment, as its reconciler finds it. */
async function deployed(name: string, branch?: string) {
  const made = await newApplication(api, { name, repository: server.url });
  const { id, environmentId } = made;
  if (branch !== undefined)
    await api.request(`/api/environments/${environmentId}`, { method: "PATCH", json: { branch } });
  await api.request(`/api/environments/${environmentId}/deployments`, { json: {} });
  const [{ id: deploymentId } = { id: "" }] = await deploymentsOf(api, environmentId);
  const parts = async () => {
    const [application, environment, deployment] = [
      await loadApplication(api.db, id),
      await loadEnvironment(api.db, environmentId),
      await loadDeployment(api.db, deploymentId),
    ];
    if (!application || !environment || !deployment) throw new Error("there is no deployment");
    return { application, environment, deployment };
  };
  return { ...made, parts };
}

async function branchesIn({ id, environmentId }: { id: string; environmentId: string }) {
  const answer = await api.request(`/api/applications/${id}`);
  const { data } = (await answer.json()) as { data: ApplicationResource };
  const environment = await loadEnvironment(api.db, environmentId);
  const [deployment] = await deploymentsOf(api, environmentId);
  return [
    data.attributes.repository?.default_branch,
    environment?.branch,
    deployment?.attributes.branch_name,
  ];
}

test("a first deployment takes the default branch over where main is not there, and asks once", async () => {
  const made = await deployed("Older");
  expect(await branchesIn(made)).toEqual(["main", "main", "main"]);
  expect(await branchOf(api.context, await made.parts(), SIGNAL)).toBe("master");
  expect(await branchesIn(made)).toEqual(["master", "master", "master"]);
  const asked = server.seen.length;
  expect(await branchOf(api.context, await made.parts(), SIGNAL)).toBe("master");
  expect(server.seen.length).toBe(asked);
});

test("a branch that is there stays", async () => {
  const made = await deployed("Chosen", "next");
  expect(await branchOf(api.context, await made.parts(), SIGNAL)).toBe("next");
  expect(await branchesIn(made)).toEqual(["master", "next", "next"]);
});

test("an environment that has served keeps its branch, and so does a change that came meanwhile", async () => {
  const made = await deployed("Serving");
  const parts = await made.parts();
  const environment = { ...parts.environment, currentDeploymentId: "depl-former" };
  expect(await branchOf(api.context, { ...parts, environment }, SIGNAL)).toBe("main");
  expect(await branchesIn(made)).toEqual(["master", "main", "main"]);
  await api.request(`/api/environments/${made.environmentId}`, { method: "PATCH", json: { branch: "next" } });
  await writeBranch(api.db, parts.deployment, "master");
  expect(await branchesIn(made)).toEqual(["master", "next", "master"]);
});
