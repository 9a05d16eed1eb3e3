// The variables of an environment in answers: which of them builds see, and who learns of that.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { EnvironmentResource } from "../../src/resources/applications/environments/schema.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication } from "../support/api/applications-api.ts";

let api: TestApi;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

async function metaOf(response: Response): Promise<EnvironmentResource["meta"]> {
  return ((await response.json()) as { data: EnvironmentResource }).data.meta;
}

test("the variables that builds see are named, to a token that may see variables", async () => {
  const { environmentId } = await newApplication(api);
  const path = `/api/environments/${environmentId}`;
  const json = {
    method: "set",
    variables: ["VITE_TITLE", "GREETING", "NEXT_PUBLIC_API"].map((key) => ({ key, value: "x" })),
  };
  const { variables_of_builds: names } = await metaOf(await api.request(`${path}/variables`, { json }));
  expect(names).toEqual(["VITE_TITLE", "NEXT_PUBLIC_API"]);
  const token = await api.newToken(["applications:read"]);
  expect(await metaOf(await api.request(path, { token }))).not.toHaveProperty("variables_of_builds");
});
