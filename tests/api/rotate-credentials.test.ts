// New passwords for caches and database clusters: the tokens that may rotate and see them, and the work item that
// follows.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startApi, type TestApi } from "../support/api/api.ts";
import { ask, becomes, hasWork, make, SLEEPERS } from "../support/api/resources-api.ts";

let api: TestApi;

beforeAll(async () => {
  api = await startApi();
});

afterAll(() => api.stop());

describe.each([...SLEEPERS])("a rotation of $kind", ({ kind, path, body }) => {
  const rotate = (id: string, headers: Record<string, string> = {}) =>
    ask(api, `${path}/${id}/rotate-credentials`, { method: "POST", headers });

  test("answers with another password, and enqueues the resource", async () => {
    const made = await make(api, { path }, body);
    await becomes(api, kind, made.id, "available");
    const { status, body: answer } = await rotate(made.id);
    expect(status).toBe(200);
    expect(answer.data.attributes.status).toBe("updating");
    const former = made.attributes.connection as { port: number; password?: string; username?: string };
    const now = answer.data.attributes.connection as typeof former;
    expect(now.password).toBeString();
    expect(now.password).not.toBe(former.password ?? "");
    expect({ ...now, password: "" }).toMatchObject({ username: former.username ?? "", port: former.port });
    expect(await hasWork(api, made.id)).toBe(true);
    const read = await ask(api, `${path}/${made.id}`);
    expect(read.body.data.attributes.connection).toEqual(now);
  });

  test("happens once for an Idempotency-Key", async () => {
    const { id } = await make(api, { path }, body);
    const headers = { "idempotency-key": crypto.randomUUID() };
    const first = await rotate(id, headers);
    const second = await rotate(id, headers);
    expect(second.status).toBe(200);
    expect(second.body.data.attributes.connection).toEqual(first.body.data.attributes.connection);
  });

  test("is 409 for a resource that is being deleted, and 404 for an unknown resource", async () => {
    const { id } = await make(api, { path }, body);
    await api.request(`${path}/${id}`, { method: "DELETE" });
    expect((await rotate(id)).status).toBe(409);
    const unknownId = id.replace(/[0-9a-f]{12}$/, "000000000000");
    expect((await rotate(unknownId)).status).toBe(404);
  });
});
