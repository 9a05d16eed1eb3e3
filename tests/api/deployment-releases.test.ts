// The ends of deployments: their reasons, and their releases, each of which is removed from its host, however long
// something needs it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Release } from "../../src/contracts/builds.ts";
import { PublicError } from "../../src/lib/errors.ts";
import { failureText } from "../../src/resources/applications/deployments/build.ts";
import { endDeployment } from "../../src/resources/applications/deployments/end.ts";
import { reconcileDeployment } from "../../src/resources/applications/deployments/reconciler.ts";
import {
  insertDeployment,
  loadDeployment,
  writeDeploymentStatus,
} from "../../src/resources/applications/deployments/store.ts";
import { pruneReleases } from "../../src/resources/applications/environments/releases.ts";
import {
  loadEnvironment,
  writeRefusal,
  type EnvironmentRow,
} from "../../src/resources/applications/environments/store.ts";
import { newId } from "../../src/lib/ids.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication } from "../support/api/applications-api.ts";

let api: TestApi;
let environment: EnvironmentRow;
/** The releases of the host, and those that a process or a command needs. */
const [present, needed] = [new Set<string>(), new Set<string>()];

beforeAll(async () => {
  api = await startApi();
  Object.assign(api.host.driver, {
    release: async (id: string) => (present.has(id) ? ({ id, bytes: 1 } as Release) : null),
    observeBuild: async () => null,
    removeBuild: async () => undefined,
    removeRelease: async (id: string) => {
      if (needed.has(id)) throw new PublicError(`The release ${id} is in use.`);
      present.delete(id);
    },
  });
  const { environmentId } = await newApplication(api);
  const row = await loadEnvironment(api.db, environmentId);
  if (row === undefined) throw new Error("no environment");
  environment = row;
});

afterAll(() => api.stop());

/** A deployment whose release is on the host. */
async function deployment(status: "deployment.succeeded" | "deployment.running"): Promise<string> {
  const id = newId("depl");
  const { settings } = environment;
  const common = { branch: "main", commit: null, initiatorId: null, settings, releaseOf: null };
  await api.db.begin((tx) => insertDeployment(tx, { id, environmentId: environment.id, ...common }));
  await writeDeploymentStatus(api.db, id, status);
  present.add(id);
  return id;
}

test("a release that a command needs while many deployments come is removed when the command has ended", async () => {
  const first = await deployment("deployment.succeeded");
  needed.add(first);
  const later: string[] = [];
  for (let count = 0; count < 30; count += 1) {
    later.push(await deployment("deployment.succeeded"));
    await pruneReleases(api.context, api.host, environment);
  }
  expect([...present]).toEqual([first, ...later.slice(-5)]);
  needed.delete(first);
  await pruneReleases(api.context, api.host, environment);
  expect([...present]).toEqual(later.slice(-5));
});

test("a deployment whose last lines have characters that the store does not take ends with the others", async () => {
  const id = await deployment("deployment.running");
  const row = await loadDeployment(api.db, id);
  if (row === undefined) throw new Error("no deployment");
  const reason = `a\0b\n${"x".repeat(3_995)}🙂`;
  await api.db.begin((tx) => endDeployment(tx, row, { status: "build.failed", reason }));
  const kept = `ab\n${"x".repeat(3_995)}\ufffd…`;
  expect((await loadDeployment(api.db, id))?.failureReason).toBe(kept);
  const [event] = await api.db`select details from events where details ->> 'deployment' = ${id}`;
  expect(event.details.reason).toBe(kept);
});

test("a reason with long lines of output keeps its end, where the error is", async () => {
  const id = await deployment("deployment.running");
  const row = await loadDeployment(api.db, id);
  if (row === undefined) throw new Error("no deployment");
  const reason = ["It ended with 1.", ...Array(9).fill("x".repeat(4_000)), "FATAL: no module"].join("\n");
  await api.db.begin((tx) => endDeployment(tx, row, { status: "build.failed", reason }));
  expect((await loadDeployment(api.db, id))?.failureReason).toBe("It ended with 1.\n…\nFATAL: no module");
});

test("the last lines of a run are given without characters that the store does not take", () => {
  const failure = { code: "step", message: "The step ended with 1." } as const;
  expect(failureText("It failed.", { failure }, ["a\0b", "\ud83d"])).toBe(
    "The step ended with 1.\nab\n\ufffd",
  );
});

test("the reason of a refused change is kept without characters that the store does not take", async () => {
  await writeRefusal(api.db, environment.id, { digest: "d", reason: "a\0b\ud83d" });
  expect((await loadEnvironment(api.db, environment.id))?.lastError).toBe("ab\ufffd");
  await writeRefusal(api.db, environment.id, null);
});

test("the release of a deployment that fails is removed by work of its own, as often as something needs it", async () => {
  const id = await deployment("deployment.running");
  needed.add(id);
  await api.db.begin(async (tx) => {
    const row = await loadDeployment(tx, id);
    if (row === undefined) throw new Error("no deployment");
    await endDeployment(tx, row, { status: "deployment.failed", reason: "It did not start." });
  });
  expect(await api.db`select from work where kind = 'deployments' and id = ${id}`).toHaveLength(1);
  const reconcile = reconcileDeployment(api.context);
  const { signal } = new AbortController();
  expect(await reconcile(id, signal)).toMatchObject({ result: { settled: false } });
  needed.delete(id);
  expect(await reconcile(id, signal)).toEqual({ result: "gone" });
  expect(present.has(id)).toBe(false);
});
