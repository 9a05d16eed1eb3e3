// Secrets of WebSocket applications: their rotation, and the tokens that see them.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { specOf } from "../../src/resources/websockets/spec.ts";
import { loadWebSocketCluster } from "../../src/resources/websockets/store.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { becomes } from "../support/api/resources-api.ts";
import {
  APPLICATIONS,
  asker,
  newWebSocketCluster,
  SERVERS,
  type ApplicationAnswer,
  type ServerAnswer,
} from "../support/api/websockets-api.ts";

let api: TestApi;
let server: string;
let main: string;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  const made = await newWebSocketCluster(api);
  server = made.id;
  main = made.application.id;
});

type Init = Parameters<TestApi["request"]>[1];
const send = asker(() => api);
const ask = (address: string, init: Init = {}) => send<ApplicationAnswer>(address, init);
const rotate = (id: string, json: object = {}, headers: Record<string, string> = {}) =>
  ask(`${APPLICATIONS}/${id}/rotate-secret`, { json, headers });
const settle = () => becomes(api, "websockets", server, "available");
const status = async () => {
  const { body } = await send<ServerAnswer>(`${SERVERS}/${server}`);
  return body.data.attributes.status;
};
const spec = async () => {
  const row = await loadWebSocketCluster(api.db, server);
  if (row === null) throw new Error("the cluster is there");
  return specOf(row, api.context);
};

describe("a rotated secret of a WebSocket application", () => {
  test("leaves the former secret valid for the grace period", async () => {
    await settle();
    const before = (await spec()).applications[0];
    const { status: code, body } = await rotate(main, { grace_seconds: 60 });
    expect(code).toBe(200);
    const { key, secret = "" } = body.data.attributes;
    expect(key).toBe(before?.key ?? "");
    expect(secret).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(body.data.attributes[""]).toEqual({ key, secret } as never);
    const [former] = body.data.meta.former_secrets;
    const remainingMs = Date.parse(former?.expires_at ?? "") - Date.now();
    expect(remainingMs).toBeGreaterThan(50_000);
    expect(remainingMs).toBeLessThanOrEqual(60_000);
    expect((await spec()).applications[0]?.secrets).toEqual([
      { secret, expiresAt: null },
      { secret: before?.secrets[0]?.secret ?? "", expiresAt: former?.expires_at ?? "" },
    ]);
    expect(await status()).toBe("updating");
  });

  test("leaves the former secret valid for a day by default, and ends all others without a grace period", async () => {
    const { body } = await rotate(main);
    const remainingMs = Date.parse(body.data.meta.former_secrets[0]?.expires_at ?? "") - Date.now();
    expect(Math.round(remainingMs / 3_600_000)).toBe(24);
    await rotate(main, { grace_seconds: 600 });
    const { body: ended } = await rotate(main, { grace_seconds: 0 });
    expect(ended.data.meta.former_secrets).toEqual([]);
    expect((await spec()).applications[0]?.secrets).toHaveLength(1);
  });

  test("shortens the grace period of earlier secrets, and never lengthens it", async () => {
    await rotate(main, { grace_seconds: 600 });
    const { body } = await rotate(main, { grace_seconds: 60 });
    const [newer, older] = body.data.meta.former_secrets.map(({ expires_at: at }) => Date.parse(at));
    expect(newer).toBe(older ?? 0);
    const { body: longer } = await rotate(main, { grace_seconds: 6000 });
    expect(longer.data.meta.former_secrets.map(({ expires_at: at }) => Date.parse(at)).slice(1)).toEqual([
      newer ?? 0,
      older ?? 0,
    ]);
  });

  test("is made once for an Idempotency-Key", async () => {
    const key = { "Idempotency-Key": `rotate-${main}` };
    const first = await rotate(main, {}, key);
    const second = await rotate(main, {}, key);
    expect(second.status).toBe(200);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.body).toEqual(first.body);
  });

  test("is refused while ten earlier secrets are valid", async () => {
    for (let count = 0; count < 10; count += 1) expect((await rotate(main)).status).toBe(200);
    const refused = await rotate(main);
    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.errors ?? {})).toEqual(["grace_seconds"]);
    expect((await rotate(main, { grace_seconds: 0 })).status).toBe(200);
  });

  test("is hidden from a token without the ability, and never stored in plaintext", async () => {
    const token = await api.newToken(["websockets:write"]);
    const { body } = await ask(`${APPLICATIONS}/${main}/rotate-secret`, { json: {}, token });
    expect(body.data.attributes).toMatchObject({ "": [] });
    expect(body.data.attributes).not.toHaveProperty("secret");
    const { secret = "" } = (await rotate(main)).body.data.attributes;
    const rows = await api.db`select to_jsonb(a)::text as text from audit a where resource_id = ${main}`;
    for (const { text } of rows as { text: string }[]) expect(text).not.toContain(secret);
  });
});
