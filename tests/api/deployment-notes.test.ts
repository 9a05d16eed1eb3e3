// What a plan leaves out is said where people look: in the output of a push, and in the log of the deployment.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { DeploymentLog } from "../../src/resources/applications/deployments/schema.ts";
import { writeDeploymentStatus, writePlan } from "../../src/resources/applications/deployments/store.ts";
import { loadEnvironment } from "../../src/resources/applications/environments/store.ts";
import { planOfCommit } from "../../src/resources/applications/sources/plan.ts";
import { loadApplication } from "../../src/resources/applications/store.ts";
import { git, testFolder, tryGit } from "../../src/sources/test-support.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { deploymentsOf, newApplication, RUNTIMES } from "../support/api/applications-api.ts";
import { until } from "../support/pilvi/pilvi.ts";

const NOTE = "vendor/lib is a submodule, which Pilvi does not fetch: its folder is empty.";
const AT = "2026-03-15T08:18:53.204Z";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  api.offer.runtimes = RUNTIMES;
  const line = { at: AT, step: "source", text: "3 files" };
  Object.assign(api.host.driver, {
    observeBuild: (id: string) =>
      Promise.resolve(
        id.endsWith("-deploy")
          ? null
          : {
              id,
              state: "running",
              steps: [{ name: "source", startedAt: AT, endedAt: null, exitCode: null }],
            },
      ),
    buildLog: (_id: string, { after }: { after: number }) =>
      Promise.resolve({ lines: after === 0 ? [line] : [], next: 1, isEnd: after > 0 }),
  });
});
afterAll(() => api.stop());

test("a submodule is named by a push, and by the log of the deployment", async () => {
  using folder = testFolder();
  const work = join(folder.path, "work");
  mkdirSync(work);
  await git(work, "init", "--quiet", "--initial-branch=main");
  await Bun.write(join(work, "index.html"), "one");
  await git(work, "add", "--all");
  await git(work, "update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},vendor/lib`);
  await git(work, "commit", "--quiet", "-m", "first");
  const { id, slug, environmentId } = await newApplication(api);
  const pushing = tryGit(
    work,
    "push",
    `${api.origin.replace("//", `//any:${api.token}@`)}/git/${slug}.git`,
    "main",
  );
  await until("there is a deployment", async () => (await deploymentsOf(api, environmentId)).length > 0);
  const [deployment] = await deploymentsOf(api, environmentId);
  const [environment, application] = [
    await loadEnvironment(api.db, environmentId),
    await loadApplication(api.db, id),
  ];
  if (!deployment || !environment || !application) throw new Error("there is no deployment");
  const hash = deployment.attributes.commit_hash ?? "";
  await writePlan(api.db, deployment.id, await planOfCommit(api.context, environment, application, hash));
  await writeDeploymentStatus(api.db, deployment.id, "build.running");
  const log = (await (await api.request(`/api/deployments/${deployment.id}/logs`)).json()) as DeploymentLog;
  expect(log.data.build.steps[0]?.output).toMatch(new RegExp(`^Note: ${NOTE}.*\n3 files\n$`));
  await writeDeploymentStatus(api.db, deployment.id, "deployment.succeeded");
  const { code, stderr } = await pushing;
  expect(code).toBe(0);
  expect(stderr.split(`Note: ${NOTE}`)).toHaveLength(2);
});
