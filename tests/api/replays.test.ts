// Requests with an Idempotency-Key that are repeated after their source has gone: the first answer counts.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Release } from "../../src/contracts/builds.ts";
import type { TestApi } from "../support/api/api.ts";
import { newApplication } from "../support/api/applications-api.ts";
import { startArchivingApi } from "../support/api/archives.ts";
import { becomes, make, SLEEPERS, type Sleeper } from "../support/api/resources-api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startArchivingApi();
});
afterAll(() => api.stop());

const [CACHES, DATABASES] = SLEEPERS;

/** Makes an instance that is available. @returns its address. */
async function available(sleeper: Sleeper): Promise<string> {
  const { id } = await make(api, sleeper, sleeper.body);
  await becomes(api, sleeper.kind, id, "available");
  return `${sleeper.path}/${id}`;
}

/** Sends a request with the same key whenever it is called. */
function repeatable(
  path: string,
  json: object,
): () => Promise<{ id: string | undefined; isReplayed: boolean }> {
  const headers = { "Idempotency-Key": crypto.randomUUID() };
  return async () => {
    const answer = await api.request(path, { json, headers });
    const { data } = (await answer.json()) as { data?: { id: string } };
    return { id: data?.id, isReplayed: answer.headers.get("idempotent-replayed") === "true" };
  };
}

/** Repeats a request after its source has gone. */
async function expectReplay(
  send: ReturnType<typeof repeatable>,
  goes: () => Promise<unknown>,
): Promise<void> {
  const first = await send();
  expect(first).toEqual({ id: expect.any(String), isReplayed: false });
  await goes();
  expect(await send()).toEqual({ ...first, isReplayed: true });
}

test.each(SLEEPERS)("a clone of $kind is found after its parent was deleted", async (sleeper) => {
  const address = await available(sleeper);
  const clone = repeatable(`${address}/clone`, { name: "clone" });
  await expectReplay(clone, () => api.request(address, { method: "DELETE" }));
});

test("a refresh is found after the parent was deleted", async () => {
  const parent = await available(DATABASES);
  const { id } = await repeatable(`${parent}/clone`, { name: "clone" })();
  await becomes(api, "databases", id ?? "", "available");
  const refresh = repeatable(`${DATABASES.path}/${id}/refresh`, {});
  await expectReplay(refresh, () => api.request(parent, { method: "DELETE" }));
});

test.each([
  { noun: "cache", sleeper: CACHES },
  { noun: "database", sleeper: DATABASES },
])("a restore of a $noun is found after its snapshot has failed", async ({ noun, sleeper }) => {
  const address = await available(sleeper);
  const { id: snapshot } = await repeatable(`${address}/snapshots`, { name: "before" })();
  await api.request(`/api/${noun}-snapshots/${snapshot}?wait=available`);
  const restore = repeatable(`${address}/restore`, { name: "restored", [`${noun}_snapshot_id`]: snapshot });
  await expectReplay(restore, () => api.db`update snapshots set status = 'failed' where id = ${snapshot}`);
});

test("a deployment of a former release is found after that was removed", async () => {
  const { environmentId } = await newApplication(api);
  let release: Release | null = { id: "depl", bytes: 1 } as Release;
  Object.assign(api.host.driver, { release: async () => release });
  const address = `/api/environments/${environmentId}/deployments`;
  const { id: former } = await repeatable(address, {})();
  await api.db`update deployments set plan = '{}' where id = ${former}`;
  const rollback = repeatable(address, { release_of: former });
  await expectReplay(rollback, async () => (release = null));
});
