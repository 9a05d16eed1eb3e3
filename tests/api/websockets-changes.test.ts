// Changes and deletions of WebSocket clusters.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { markUpdating } from "../../src/resources/shared/rows.ts";
import { eraseWebSocketCluster, loadWebSocketCluster } from "../../src/resources/websockets/store.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { becomes as becomesOfKind } from "../support/api/resources-api.ts";
import {
  APPLICATIONS,
  asker,
  newWebSocketCluster,
  SERVERS as path,
  type ServerAnswer,
} from "../support/api/websockets-api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const send = asker(() => api);
const ask = (address: string, init: Parameters<TestApi["request"]>[1] = {}) =>
  send<ServerAnswer>(address, init);
const patch = (id: string, json: object) => ask(`${path}/${id}`, { method: "PATCH", json });
const becomes = (id: string, status: "available" | "updating") =>
  becomesOfKind(api, "websockets", id, status);

describe("PATCH /websocket-servers/:id", () => {
  test("changes the number of connections, and makes the cluster updating until it is in force", async () => {
    const { server: data } = await newWebSocketCluster(api);
    await becomes(data.id, "available");
    const { status, body } = await patch(data.id, { max_connections: 500 });
    expect(status).toBe(200);
    expect(body.data.attributes).toMatchObject({ status: "updating", max_connections: 500 });
    const waiting = ask(`${path}/${data.id}?wait=available&include=applications`);
    await becomes(data.id, "available");
    const answer = await waiting;
    expect(answer.body.data.attributes.status).toBe("available");
    expect(answer.body.included?.[0]?.attributes.max_connections).toBe(500);
  });

  test("changes the name at once, since the server does not know it", async () => {
    const { server: data } = await newWebSocketCluster(api);
    await becomes(data.id, "available");
    const { body } = await patch(data.id, { name: "talk", type: "other", region: "us-east-1" });
    expect(body.data.attributes).toMatchObject({ name: "talk", status: "available", region: "eu-central-1" });
    const [work] = await api.db`select deadline_at from work where id = ${data.id}`;
    expect(work.deadline_at).toBeNull();
    expect((await patch(data.id, {})).body.data.attributes.name).toBe("talk");
    expect((await patch(data.id, { name: null })).body.data.attributes.name).toBe("talk");
  });

  test.each([
    [{ name: "T" }, ["name"]],
    [{ max_connections: 300 }, ["max_connections"]],
    [{ name: 1, max_connections: "100" }, ["name", "max_connections"]],
  ])("refuses %p", async (change, fields) => {
    const { server: data } = await newWebSocketCluster(api);
    const { status, body } = await patch(data.id, change);
    expect(status).toBe(422);
    expect(Object.keys(body.errors ?? {})).toEqual(fields);
  });

  test("keeps the status of a cluster that is still being created", async () => {
    const { server: data } = await newWebSocketCluster(api);
    const { body } = await patch(data.id, { max_connections: 200 });
    expect(body.data.attributes.status).toBe("creating");
    await api.db.begin((tx) => markUpdating(tx, "websockets", data.id));
    expect((await loadWebSocketCluster(api.db, data.id))?.status).toBe("creating");
  });
});

describe("DELETE /websocket-servers/:id", () => {
  test("deletes the applications, and refuses changes until the cluster is gone", async () => {
    const { server: data, application: main } = await newWebSocketCluster(api);
    const application = `${APPLICATIONS}/${main.id}`;
    const remove = () => ask(`${path}/${data.id}`, { method: "DELETE" });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(204);
    expect((await ask(`${path}/${data.id}`)).body.data.attributes.status).toBe("deleting");
    expect((await patch(data.id, { name: "other" })).status).toBe(409);
    expect((await ask(`${path}/${data.id}/applications`, { json: { name: "more" } })).status).toBe(409);
    expect((await ask(application, { method: "PATCH", json: { name: "more" } })).status).toBe(409);
    expect((await ask(`${application}/rotate-secret`, { json: {} })).status).toBe(409);
    expect((await ask(application, { method: "DELETE" })).status).toBe(204);
    await becomes(data.id, "available");
    expect((await ask(`${path}/${data.id}`)).body.data.attributes.status).toBe("deleting");
    await api.db.begin((tx) => eraseWebSocketCluster(tx, data.id));
    for (const gone of [`${path}/${data.id}`, application]) expect((await ask(gone)).status).toBe(404);
    expect((await remove()).status).toBe(404);
    const [left] = await api.db`
      select count(*)::int as count from instances where resource_id = ${data.id}`;
    expect(left.count).toBe(0);
  });
});
