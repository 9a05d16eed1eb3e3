// New passwords for caches and database clusters: the tokens that may rotate and see them, and the work item that
// follows.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startApi, type TestApi } from "../support/api/api.ts";
import { ask, audited, becomes, hasWork, make, SLEEPERS } from "../support/api/resources-api.ts";

let api: TestApi;

beforeAll(async () => {
  api = await startApi();
});

afterAll(() => api.stop());

describe.each([...SLEEPERS])("a rotation of $kind", ({ kind, path, body }) => {
  const rotate = (id: string, headers: Record<string, string> = {}, json: object = {}) =>
    ask(api, `${path}/${id}/rotate-credentials`, { method: "POST", headers, json });
  const endGrace = (id: string) => ask(api, `${path}/${id}/end-grace`, { method: "POST" });

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

  test("with a grace says until when the former password is valid, and a later rotation ends that", async () => {
    const { id } = await make(api, { path }, body);
    const before = Date.now();
    const { body: first } = await rotate(id, {}, { grace_seconds: 3_600 });
    const expiresAt = Date.parse(first.data.meta.former_credentials?.expires_at ?? "");
    expect(expiresAt).toBeWithin(before + 3_600_000, Date.now() + 3_600_001);
    expect((await ask(api, `${path}/${id}`)).body.data.meta).toEqual(first.data.meta);
    const { body: second } = await rotate(id);
    expect(second.data.meta.former_credentials).toBeNull();
    const actions = (await audited(api, id)).filter(({ action }) => action === "rotate-credentials");
    expect(actions.map(({ details }) => details)).toEqual([{ grace_seconds: 3_600 }, { grace_seconds: 0 }]);
  });

  test("keeps the former password sealed, and shows a former password no longer once it is over", async () => {
    const made = await make(api, { path }, body);
    const { password } = made.attributes.connection as { password?: string };
    await rotate(made.id, {}, { grace_seconds: 60 });
    const table = api.db.unsafe(kind);
    const [row] = await api.db<
      { text: string }[]
    >`select r::text as text from ${table} r where id = ${made.id}`;
    expect(row?.text).not.toContain(password ?? "no password");
    await api.db`
      update ${table} set former_password = former_password || '{"expiresAt": "2026-01-01T00:00:00.000Z"}'
      where id = ${made.id}`;
    expect((await ask(api, `${path}/${made.id}`)).body.data.meta.former_credentials).toBeNull();
  });

  test("ends a grace at once, and changes nothing without a grace", async () => {
    const { id } = await make(api, { path }, body);
    await rotate(id, {}, { grace_seconds: 60 });
    await becomes(api, kind, id, "available");
    const ended = await endGrace(id);
    expect([ended.status, ended.body.data.meta.former_credentials]).toEqual([200, null]);
    expect([ended.body.data.attributes.status, await hasWork(api, id)]).toEqual(["updating", true]);
    await becomes(api, kind, id, "available");
    const again = await endGrace(id);
    expect([again.status, again.body.data.attributes.status]).toEqual([200, "available"]);
    expect((await audited(api, id)).filter(({ action }) => action === "end-grace")).toHaveLength(1);
    await api.request(`${path}/${id}`, { method: "DELETE" });
    expect((await endGrace(id)).status).toBe(409);
  });

  test.each([-1, 604_801, 1.5, "60"])("refuses a grace of %p seconds, and changes nothing", async (grace) => {
    const { id } = await make(api, { path }, body);
    const answer = await rotate(id, {}, { grace_seconds: grace });
    expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([422, ["grace_seconds"]]);
    expect(await audited(api, id)).toHaveLength(1);
  });
});
