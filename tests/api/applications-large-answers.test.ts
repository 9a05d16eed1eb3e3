// Answers with environments whose variables are as large as they may be.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication } from "../support/api/applications-api.ts";

/** The environments of each of the two applications. */
const ENVIRONMENTS = 12;

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  for (const name of ["One", "Two"]) {
    const { id } = await newApplication(api, { name });
    for (let count = 1; count < ENVIRONMENTS; count += 1) await addFull(id, `full-${count}`);
  }
});
afterAll(() => api.stop());

/** Adds an environment whose variables take 1.5 MB in an answer. */
async function addFull(applicationId: string, name: string): Promise<void> {
  const made = await api.request(`/api/applications/${applicationId}/environments`, {
    json: { name, branch: name },
  });
  const { data } = (await made.json()) as { data: { id: string } };
  const variables = ["A", "B", "C", "D"].map((key) => ({ key, value: "\u{1}".repeat(32_700) }));
  const path = `/api/environments/${data.id}/variables`;
  expect((await api.request(path, { json: { method: "set", variables } })).status).toBe(200);
}

interface Answer {
  included?: { type: string; attributes: { environment_variables: unknown[] } }[];
  errors?: Record<string, string[]>;
}

async function list(query: string): Promise<[status: number, answer: Answer]> {
  const response = await api.request(`/api/applications?${query}`);
  return [response.status, (await response.json()) as Answer];
}

test("a list that would include more than 32 MiB is a 422, and a smaller page or another include works", async () => {
  const [status, { errors }] = await list("include=environments");
  expect([status, errors]).toEqual([
    422,
    { include: [expect.stringContaining("Ask for fewer resources with `per_page`")] },
  ]);
  const [smaller, { included = [] }] = await list("include=environments&per_page=1");
  expect([smaller, included.length]).toEqual([200, ENVIRONMENTS]);
  expect(included.at(-1)?.attributes.environment_variables).toHaveLength(5);
  const [other, answer] = await list("include=defaultEnvironment");
  expect([other, answer.included?.length]).toEqual([200, 2]);
});
