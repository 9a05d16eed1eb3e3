// The steps in the log of a deployment that has ended: none of them goes on.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Build } from "../../src/contracts/builds.ts";
import { newId } from "../../src/lib/ids.ts";
import type { DeploymentLog, DeploymentStatus } from "../../src/resources/applications/deployments/schema.ts";
import {
  insertDeployment,
  writeDeploymentStatus,
  writeSteps,
} from "../../src/resources/applications/deployments/store.ts";
import { loadEnvironment, type EnvironmentRow } from "../../src/resources/applications/environments/store.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication } from "../support/api/applications-api.ts";

const AT = "2026-03-15T08:18:53.204Z";

let api: TestApi;
let environment: EnvironmentRow;
/** The state of the build, whose only step has no end. */
let state: Build["state"];

beforeAll(async () => {
  api = await startApi();
  Object.assign(api.host.driver, {
    observeBuild: async (id: string) => ({
      id,
      state,
      steps: [{ name: "source", startedAt: AT, endedAt: null, exitCode: null }],
    }),
    buildLog: async () => ({ lines: [], next: 0, isEnd: true }),
  });
  const { environmentId } = await newApplication(api);
  const row = await loadEnvironment(api.db, environmentId);
  if (row === undefined) throw new Error("no environment");
  environment = row;
});

afterAll(() => api.stop());

/** A deployment whose deploy command was noted as running. */
async function deployment(status: DeploymentStatus): Promise<string> {
  const id = newId("depl");
  const { settings } = environment;
  const common = { branch: "main", commit: null, initiatorId: null, settings, releaseOf: null };
  await api.db.begin((tx) => insertDeployment(tx, { id, environmentId: environment.id, ...common }));
  const step = { step: "deploy.command", description: "true", startedAt: AT };
  await writeSteps(api.db, id, [{ ...step, status: "running" }]);
  await writeDeploymentStatus(api.db, id, status);
  return id;
}

async function stepsOf(id: string): Promise<[build: string | undefined, deploy: string | undefined]> {
  const log = (await (await api.request(`/api/deployments/${id}/logs`)).json()) as DeploymentLog;
  return [log.data.build.steps[0]?.status, log.data.deploy.steps[0]?.status];
}

test("a step of a build has the end of its build where it has none of its own", async () => {
  const id = await deployment("deployment.running");
  const shown: (string | undefined)[] = [];
  for (const each of ["running", "succeeded", "failed", "cancelled"] as const) {
    state = each;
    shown.push((await stepsOf(id))[0]);
  }
  expect(shown).toEqual(["running", "finished", "failed", "cancelled"]);
});

test("a deploy command without an end has that of its deployment", async () => {
  state = "cancelled";
  const statuses = ["deployment.running", "cancelled", "deployment.failed"] as const;
  const shown = await Promise.all(
    statuses.map(async (status) => (await stepsOf(await deployment(status)))[1]),
  );
  expect(shown).toEqual(["running", "cancelled", "failed"]);
});
