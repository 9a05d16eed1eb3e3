// Two changes at once that choose the same name: one is refused at its field, and neither fails.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { lockApplication, lockNames } from "../../src/resources/applications/store.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication } from "../support/api/applications-api.ts";
import { inTransaction, untilSomebodyWaits } from "../support/api/locks.ts";

let api: TestApi;
let organizationId: string;

beforeAll(async () => {
  api = await startApi();
  const [row] = await api.db<{ id: string }[]>`select id from organizations`;
  organizationId = row?.id ?? "";
});

afterAll(() => api.stop());

async function change(path: string, json: object): Promise<[number, unknown]> {
  const answer = await api.request(`/api${path}`, { method: "PATCH", json });
  return [answer.status, ((await answer.json()) as { errors?: unknown }).errors];
}

test("two applications get the same slug", async () => {
  const { id: first } = await newApplication(api);
  const { id: second } = await newApplication(api);
  let answers: Promise<[number, unknown]>[] = [];
  await inTransaction(api.db, async (tx) => {
    await lockNames(tx, organizationId);
    answers = [first, second].map((id) => change(`/applications/${id}`, { slug: "wanted" }));
    await untilSomebodyWaits(api.db, answers.length);
  });
  expect((await Promise.all(answers)).toSorted()).toEqual([
    [200, undefined],
    [422, { slug: ["The organization has an application with the slug wanted."] }],
  ]);
});

test("two environments of an application get the same name", async () => {
  const { id, environmentId } = await newApplication(api);
  const created = await api.request(`/api/applications/${id}/environments`, {
    json: { name: "staging", branch: "next" },
  });
  const { data } = (await created.json()) as { data: { id: string } };
  let answers: Promise<[number, unknown]>[] = [];
  await inTransaction(api.db, async (tx) => {
    await lockApplication(tx, organizationId, id);
    answers = [environmentId, data.id].map((each) => change(`/environments/${each}`, { name: "wanted" }));
    await untilSomebodyWaits(api.db, answers.length);
  });
  expect((await Promise.all(answers)).toSorted()).toEqual([
    [200, undefined],
    [422, { name: ["The application has an environment named wanted."] }],
  ]);
});
