// An action outlives the request that started it: the control plane is killed at every step of a suspend.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Database } from "../../src/store/database.ts";
import { cacheBody, Failpoints, startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { openStore } from "./inspection.ts";

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let store: Database;

beforeAll(async () => {
  pilvi = await startPilvi({ env: failpoints.env });
  store = await openStore(pilvi);
});

afterAll(async () => {
  failpoints.release();
  await store.close();
  await pilvi.close();
  failpoints.close();
});

async function availableCache(): Promise<string> {
  const body = { ...cacheBody(), uses_hibernation: true, hibernation_timeout: 60 };
  const created = await pilvi.api<{ data: { id: string } }>("POST", "/caches", body);
  await pilvi.untilStatus(created.body.data.id, "available");
  return created.body.data.id;
}

async function sleepStateOf(id: string): Promise<string | undefined> {
  const answer = await pilvi
    .api<{ data: { meta: { sleep: { state: string } } } }>("GET", `/caches/${id}`)
    .catch(() => undefined);
  return answer?.status === 200 ? answer.body.data.meta.sleep.state : undefined;
}

describe.each(["action.begun", "action.running", "action.carried-out"])("killed at %s", (place) => {
  test("a suspend that a request has begun is carried out once", async () => {
    const id = await availableCache();
    failpoints.arm(place);
    const request = pilvi.api("POST", `/caches/${id}/suspend`, {}).catch(() => undefined);
    process.kill(await failpoints.reached(), "SIGKILL");
    await request;
    await until("the cache sleeps", async () => (await sleepStateOf(id)) === "asleep");
    const actions = () => store`select state, failure from actions where resource_id = ${id}`;
    await until("the action is done", async () => (await actions())[0]?.state === "done");
    expect([...(await actions())]).toEqual([{ state: "done", failure: null }]);
  });
});
