// Requests that wait for an environment, or for a command of it, are answered as soon as that has changed.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { insertCommand } from "../../src/resources/applications/commands/store.ts";
import { endDeployment } from "../../src/resources/applications/deployments/end.ts";
import { loadDeployment } from "../../src/resources/applications/deployments/store.ts";
import { removeEnvironment } from "../../src/resources/applications/environments/remove.ts";
import { loadEnvironment } from "../../src/resources/applications/environments/store.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication, upload } from "../support/api/applications-api.ts";
import { until } from "../support/pilvi/pilvi.ts";

/** Much longer than a test may take. */
const MAX_WAIT_MS = 3_600_000;

let api: TestApi;

beforeAll(async () => {
  api = await startApi({ maxWaitMs: MAX_WAIT_MS });
  Object.assign(api.host.driver, {
    removeRoute: () => Promise.resolve(),
    removeBuild: () => Promise.resolve(),
    removeRelease: () => Promise.resolve(),
    removeEnvironment: () => Promise.resolve(),
  });
});

afterAll(() => api.stop());

/** An environment with a deployment under way. */
async function deploying() {
  const { environmentId } = await newApplication(api);
  const { id } = (await upload(api, `/environments/${environmentId}/uploads`)).body.data;
  const [deployment, environment] = [
    await loadDeployment(api.db, id),
    await loadEnvironment(api.db, environmentId),
  ];
  if (deployment === undefined || environment === undefined) throw new Error("a row is not there");
  return { deployment, environment };
}

/** Sends a request that is held. @returns its answer's status. */
async function held(path: string): Promise<{ status: Promise<string> }> {
  const answer = api.request(`/api${path}`);
  await until("the request is held", async () =>
    (await (await api.request("/metrics")).text()).includes("pilvi_held_requests 1\n"),
  );
  const read = async () =>
    ((await (await answer).json()) as { data: { attributes: { status: string } } }).data.attributes.status;
  return { status: read() };
}

test.each(["build.failed", "deployment.failed", "cancelled"] as const)(
  "an environment runs as before when its deployment ends as %s",
  async (end) => {
    const { deployment, environment } = await deploying();
    const { status } = await held(`/environments/${environment.id}?wait=running`);
    await api.db.begin((tx) => endDeployment(tx, deployment, { status: end, reason: "It does not start." }));
    expect(await status).toBe("running");
  },
);

test("a command ends with its environment", async () => {
  const { deployment, environment } = await deploying();
  const id = `comm-${Bun.randomUUIDv7()}`;
  await api.db.begin((tx) =>
    insertCommand(tx, {
      id,
      environmentId: environment.id,
      deploymentId: deployment.id,
      command: "sleep 60",
      hasTerminal: false,
      initiatorId: null,
    }),
  );
  const { status } = await held(`/commands/${id}?wait=command.success`);
  await removeEnvironment(api.context, api.host, environment, new AbortController().signal);
  expect(await status).toBe("command.failure");
});
