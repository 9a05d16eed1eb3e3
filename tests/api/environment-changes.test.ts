// Changes of environments through the API: what null takes away, and what it leaves.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ApplicationResource, EnvironmentResource } from "../../src/sdk/index.ts";
import { startApi, type TestApi } from "../support/api/api.ts";

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
