// Refreshes of clones: requests, refusals, and what they ask of the driver.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import type { TestApi } from "../support/api/api.ts";
import { startArchivingApi } from "../support/api/archives.ts";
import { documentOf, expectDocumented } from "../support/api/openapi.ts";
import { becomes, make, SLEEPERS } from "../support/api/resources-api.ts";

interface Answer {
  data: DatabaseClusterResource;
  message?: string;
  errors?: Record<string, string[]>;
}

const [, DATABASES] = SLEEPERS;
const path = (id: string, verb: string) => `${DATABASES.path}/${id}/${verb}`;

let api: TestApi;
beforeAll(async () => {
  api = await startArchivingApi();
});
afterAll(() => api.stop());

async function send(address: string, init: Parameters<TestApi["request"]>[1] = {}) {
  const response = await api.request(address, init);
  return { status: response.status, body: (await response.json()) as Answer };
}

const ask = async (id: string, json: object = {}) => await send(path(id, "refresh"), { json });

/** A cluster, and a clone of it. */
async function family(): Promise<{ parent: string; clone: string }> {
  const { id: parent } = await make(api, DATABASES, DATABASES.body);
  await becomes(api, "databases", parent, "available");
  const { body } = await send(path(parent, "clone"), { json: { name: "clone" } });
  await becomes(api, "databases", body.data.id, "available");
  return { parent, clone: body.data.id };
}

describe("a refresh", () => {
  test("of a clone answers with the clone, which is being updated, and is documented", async () => {
    const { clone } = await family();
    const before = (await send(`${DATABASES.path}/${clone}`)).body.data;
    expect(before.meta.refresh?.status).toBe("never");
    const response = await api.request(path(clone, "refresh"), { json: {} });
    expect(response.status).toBe(200);
    const { data } = (await response.clone().json()) as Answer;
    expect([data.id, data.attributes.status, data.meta.refresh?.status]).toEqual([
      clone,
      "updating",
      "refreshing",
    ]);
    expect(data.attributes.connection).toEqual(before.attributes.connection);
    await expectDocumented(await documentOf(api), "/databases/clusters/{id}/refresh", "post", response);
  });

  test("that is under way refuses another, and a window", async () => {
    const { clone } = await family();
    await ask(clone);
    const { status, body } = await ask(clone);
    expect([status, body.message]).toEqual([409, "The cluster is being refreshed already."]);
    const json = { config: { retention_days: 1 } };
    const changed = await send(`${DATABASES.path}/${clone}`, { method: "PATCH", json });
    expect([changed.status, changed.body.message]).toMatchObject([
      409,
      expect.stringContaining("being refreshed"),
    ]);
  });

  test("with an Idempotency-Key is begun once", async () => {
    const { clone } = await family();
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const init = { json: {}, headers };
    const first = await send(path(clone, "refresh"), init);
    const second = await send(path(clone, "refresh"), init);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body.data.meta.refresh?.started_at).toBe(first.body.data.meta.refresh?.started_at ?? "");
  });

  test("of a cluster that is no clone is refused", async () => {
    const { parent } = await family();
    const { status, body } = await ask(parent);
    expect([status, body.message]).toMatchObject([409, expect.stringContaining("is no clone")]);
  });

  test("of a clone whose parent was deleted is refused", async () => {
    const { parent, clone } = await family();
    await api.request(`${DATABASES.path}/${parent}`, { method: "DELETE" });
    const { status, body } = await ask(clone);
    expect([status, body.message]).toMatchObject([409, expect.stringContaining("was deleted")]);
  });

  test("of a clone that keeps a window is refused", async () => {
    const { clone } = await family();
    const json = { config: { retention_days: 1 } };
    await send(`${DATABASES.path}/${clone}`, { method: "PATCH", json });
    await becomes(api, "databases", clone, "available");
    const { status, body } = await ask(clone);
    expect([status, body.message]).toMatchObject([409, expect.stringContaining("window")]);
  });

  test("of an instant of the future is refused, and so is that of an organization's clone by another", async () => {
    const { clone } = await family();
    const { status, body } = await ask(clone, { restore_time: "2999-03-15T08:00:00Z" });
    expect([status, Object.keys(body.errors ?? {})]).toEqual([422, ["restore_time"]]);
    const token = await api.newToken(["*"], "elsewhere");
    expect((await send(path(clone, "refresh"), { json: {}, token })).status).toBe(404);
    const reader = await api.newToken(["databases:read"]);
    expect((await send(path(clone, "refresh"), { json: {}, token: reader })).status).toBe(403);
  });
});
