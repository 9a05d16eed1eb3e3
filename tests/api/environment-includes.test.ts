// The resources that answers about environments and instances include.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication, upload } from "../support/api/applications-api.ts";

let api: TestApi;
let path: string;
let applicationId: string;
let cacheId: string;
let deploymentId: string;

interface Identifier {
  type: string;
  id: string;
}

interface Answer {
  data: { relationships: { deployments: { data: Identifier[] }; instances: { data: Identifier[] } } };
  included?: Identifier[];
}

beforeAll(async () => {
  api = await startApi();
  const made = await newApplication(api);
  path = `/api/environments/${made.environmentId}`;
  const cache = await api.request("/api/caches", {
    json: { type: "platform_valkey", name: "shop", region: "eu-central-1", size: "valkey-flex-250mb" },
  });
  cacheId = ((await cache.json()) as { data: { id: string } }).data.id;
  await api.db`update caches set status = 'available'`;
  await api.request(path, { method: "PATCH", json: { cache_id: cacheId } });
  const [row] = await api.db<{ id: string }[]>`
    select application_id as id from environments where id = ${made.environmentId}`;
  applicationId = row?.id ?? "";
  deploymentId = (await upload(api, `/environments/${made.environmentId}/uploads`)).body.data.id;
});

afterAll(() => api.stop());

async function read(address: string, token?: string): Promise<Answer> {
  const response = await api.request(address, token === undefined ? {} : { token });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

const namesOf = ({ included = [] }: Answer) => included.map(({ type, id }) => `${type} ${id}`).sort();

test("an environment includes all that its relationships name, each once", async () => {
  const wanted =
    "application,branch,deployments,currentDeployment,primaryDomain,instances,database,cache,buckets,websocketApplication,secrets";
  const answer = await read(`${path}?include=${wanted}`);
  const { deployments, instances } = answer.data.relationships;
  expect(deployments.data).toEqual([{ type: "deployments", id: deploymentId }]);
  const [instance] = instances.data;
  expect(namesOf(answer)).toEqual(
    [
      `applications ${applicationId}`,
      "branches main",
      `caches ${cacheId}`,
      `deployments ${deploymentId}`,
      `instances ${instance?.id}`,
    ].sort(),
  );
});

test("an environment includes no cache for a token that may not read caches", async () => {
  const token = await api.newToken(["applications:read"]);
  expect(namesOf(await read(`${path}?include=cache,branch`, token))).toEqual(["branches main"]);
});

test("instances include their background processes", async () => {
  const [instance] = (await read(path)).data.relationships.instances.data;
  const made = await api.request(`/api/instances/${instance?.id}/background-processes`, {
    json: { type: "custom", processes: 1, command: "sleep 1" },
  });
  expect(made.status).toBe(201);
  const { data } = (await made.json()) as { data: { id: string } };
  const answer = await read(`/api/instances/${instance?.id}?include=environment,backgroundProcesses`);
  expect(namesOf(answer)).toEqual([
    `background_processes ${data.id}`,
    `environments ${path.split("/").at(-1)}`,
  ]);
});
