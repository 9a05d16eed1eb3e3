// Changes of environments through the API: what null takes away, and what it leaves.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ApplicationResource, EnvironmentResource } from "../../src/sdk/index.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication } from "../support/api/applications-api.ts";

let api: TestApi;
let path: string;

beforeAll(async () => {
  api = await startApi();
  const json = { name: "Web shop", region: "eu-central-1" };
  const answer = await api.request("/api/applications", { method: "POST", json });
  const { data } = (await answer.json()) as { data: ApplicationResource };
  path = `/api/environments/${data.relationships.environments.data[0]?.id}`;
});

afterAll(async () => await api.stop());

async function change(json: object): Promise<EnvironmentResource["attributes"]> {
  const answer = await api.request(path, { method: "PATCH", json });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: EnvironmentResource }).data.attributes;
}

test("null takes a setting away that may be absent, and leaves others as they are", async () => {
  const commands = { build_command: "npm run build", node_version: "22" };
  expect(await change({ ...commands, timeout: 20 })).toMatchObject({ ...commands, timeout: 20 });
  expect(await change({ build_command: null, timeout: null })).toMatchObject({
    build_command: null,
    node_version: "22",
    timeout: 20,
  });
  expect((await change({ node_version: null })).node_version).toBeNull();
});

test("the filter by status goes by what answers show, such as a process that sleeps", async () => {
  const [{ applicationId = "", environmentId = "" } = {}] = await api.db<
    { applicationId: string; environmentId: string }[]
  >`select application_id as "applicationId", id as "environmentId" from environments`;
  const found = async (status: EnvironmentResource["attributes"]["status"]) => {
    const list = `/api/applications/${applicationId}/environments?filter[status]=${status}`;
    const { data } = (await (await api.request(list)).json()) as { data: EnvironmentResource[] };
    return data.map(({ attributes }) => attributes.status);
  };
  expect(await found("stopped")).toEqual([]);
  await api.db`update environments set status = 'running'`;
  await api.db`
    insert into deployments (id, environment_id, status, branch, settings)
    values ('depl-filter', ${environmentId}, 'pending', 'main', '{}')`;
  expect(await found("deploying")).toEqual(["deploying"]);
  expect(await found("running")).toEqual([]);
});

test("an environment that is being deleted does not become the default, and hinders no other change", async () => {
  const { id, environmentId } = await newApplication(api, { name: "Other shop" });
  const json = { name: "staging", branch: "main" };
  const made = await api.request(`/api/applications/${id}/environments`, { json });
  const { data } = (await made.json()) as { data: EnvironmentResource };
  await api.request(`/api/environments/${data.id}`, { method: "DELETE" });
  const patch = (body: object) => api.request(`/api/applications/${id}`, { method: "PATCH", json: body });
  const refused = await patch({ default_environment_id: data.id });
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({
    errors: { default_environment_id: ["The environment is being deleted."] },
  });
  const foreign = await patch({ default_environment_id: "env-of-nobody" });
  expect(await foreign.text()).toContain("The application has no environment with this id.");
  expect((await patch({ default_environment_id: environmentId })).status).toBe(200);
  // Earlier releases let the default be deleted.
  await api.db`update applications set default_environment_id = 'env-gone' where id = ${id}`;
  expect((await patch({ name: "Renamed" })).status).toBe(200);
});
