// Attachments of environments: they need the right to see what the application is then given.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { buildSpecSchema } from "../../src/contracts/builds.ts";
import { variablesSchema } from "../../src/contracts/application.ts";
import { runVariables, secretNames } from "../../src/resources/applications/environments/all-variables.ts";
import { loadEnvironment } from "../../src/resources/applications/environments/store.ts";
import { MAX_VARIABLES } from "../../src/resources/applications/environments/variable-schema.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newWebSocketCluster } from "../support/api/websockets-api.ts";
import { buildSpec } from "../support/applications/host.ts";

let api: TestApi;
let path: string;
let cacheId: string;

beforeAll(async () => {
  api = await startApi();
  const made = await api.request("/api/applications", { json: { name: "Shop", region: "eu-central-1" } });
  const { data } = (await made.json()) as {
    data: { relationships: { environments: { data: { id: string }[] } } };
  };
  path = `/api/environments/${data.relationships.environments.data[0]?.id}`;
  const cache = await api.request("/api/caches", {
    json: { type: "platform_valkey", name: "shop", region: "eu-central-1", size: "valkey-flex-250mb" },
  });
  cacheId = ((await cache.json()) as { data: { id: string } }).data.id;
  await api.db`update caches set status = 'available'`;
});

afterAll(() => api.stop());

test("a token that may not see the credentials of a cache may not attach it", async () => {
  const token = await api.newToken(["applications:read", "applications:write", "applications:credentials"]);
  const refused = await api.request(path, { method: "PATCH", token, json: { cache_id: cacheId } });
  expect(refused.status).toBe(403);
  expect(await refused.text()).toContain("caches:credentials");
  const other = await api.request(path, { method: "PATCH", token, json: { color: "green" } });
  expect(other.status).toBe(200);
});

test("an attachment that is there already refuses no other change", async () => {
  const attached = await api.request(path, { method: "PATCH", json: { cache_id: cacheId } });
  expect(attached.status).toBe(200);
  await api.db`update caches set status = 'restoring'`;
  const changed = await api.request(path, { method: "PATCH", json: { color: "blue", cache_id: cacheId } });
  expect(changed.status).toBe(200);
  const detached = await api.request(path, { method: "PATCH", json: { cache_id: null } });
  expect(detached.status).toBe(200);
  const again = await api.request(path, { method: "PATCH", json: { cache_id: cacheId } });
  expect(again.status).toBe(422);
  expect(await again.text()).toContain("please wait");
});

test("all variables that an environment may have fit beside those of what is attached", async () => {
  const { application } = await newWebSocketCluster(api);
  const id = path.slice(path.lastIndexOf("/") + 1);
  await api.db`
    update environments set cache_id = ${cacheId}, websocket_application_id = ${application.id} where id = ${id}`;
  // The environment has the variable `APP_KEY` already.
  const variables = Array.from({ length: MAX_VARIABLES - 1 }, (_, at) => ({ key: `OWN_${at}`, value: "" }));
  const kept = await api.request(`${path}/variables`, { json: { method: "set", variables } });
  expect(kept.status).toBe(200);
  const environment = await loadEnvironment(api.db, id);
  if (environment === undefined) throw new Error("the environment is there");
  const all = await runVariables(api.context, environment, { framework: "Laravel" });
  expect(Object.keys(all)).toEqual(expect.arrayContaining(["OWN_0", "REDIS_HOST", "PUSHER_HOST"]));
  const secrets = secretNames(api.context, environment, all);
  const spec = buildSpec({ variables: all, secrets });
  expect(buildSpecSchema.parse(spec)).toEqual(spec);
  expect(variablesSchema.parse(all)).toEqual(all);
});

test("applications that are made at once with the same name get slugs of their own", async () => {
  const json = { name: "Twin", region: "eu-central-1" };
  const answers = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const response = await api.request("/api/applications", { json });
      return {
        status: response.status,
        body: (await response.json()) as { data: { attributes: { slug: string } } },
      };
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
  expect(new Set(answers.map(({ body }) => body.data.attributes.slug)).size).toBe(5);
});
