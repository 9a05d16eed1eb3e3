// What `meta.last_error` of an environment says while a run cannot bring it to its order.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { claim, complete } from "../../src/reconciler/queue.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication } from "../support/api/applications-api.ts";

const REASON = "The edge cannot run at port 80: another program has it.";

let api: TestApi;
beforeAll(async () => void (api = await startApi()));
afterAll(() => api.stop());

async function lastError(id: string, token = api.token): Promise<unknown> {
  const response = await api.request(`/api/environments/${id}`, { token });
  const { data } = (await response.json()) as { data: { meta: { last_error: string | null } } };
  return data.meta.last_error;
}

/** Ends a run of the environment as the loop does. */
async function run(id: string, result: Parameters<typeof complete>[3]): Promise<void> {
  await api.db`update work set run_at = now() where id = ${id}`;
  const kinds = { among: ["environments"] };
  const [job] = await claim(api.db, 1, { hostIds: [api.host.id], kinds }, 1);
  if (job?.id !== id) throw new Error("nothing was due");
  expect(await complete(api.db, 1, job, result)).toBe("given");
}

test("the reason of a run that failed is shown until a run succeeds, to tokens that see what programs write", async () => {
  const { environmentId: id } = await newApplication(api);
  const json = { method: "set", variables: [{ key: "COLOR", value: "red" }] };
  await api.request(`/api/environments/${id}/variables`, { json });
  await run(id, { settled: false, retryMs: 0, lastError: REASON });
  expect(await lastError(id)).toBe(REASON);
  expect(await lastError(id, await api.newToken(["applications:read"]))).toBeNull();
  await run(id, { settled: true });
  expect(await lastError(id)).toBeNull();
});
