// The health check and the way of serving of an environment: what requests may set, and what answers and plans say.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { EnvironmentResource } from "../../src/resources/applications/environments/schema.ts";
import type { PlanResource } from "../../src/resources/applications/sources/plan-schema.ts";
import { tarOf, type TestEntry } from "../../src/sources/test-support.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { changeEnvironment, newApplication, RUNTIMES } from "../support/api/applications-api.ts";

let api: TestApi;
let id: string;
let environmentId: string;

beforeAll(async () => {
  api = await startApi();
  api.offer.runtimes = RUNTIMES;
  ({ id, environmentId } = await newApplication(api));
});
afterAll(() => api.stop());

/** A site that Vite makes. */
const SITE: TestEntry[] = [
  {
    path: "package.json",
    content: '{"scripts":{"build":"vite build"},"devDependencies":{"vite":"7"}}',
  },
];

interface Answer {
  data: EnvironmentResource;
  errors?: Record<string, string[]>;
}

async function send(path: string, method: string, json: object): Promise<{ status: number; body: Answer }> {
  const response = await api.request(path, { method, json });
  return { status: response.status, body: (await response.json()) as Answer };
}

async function planOf(environment: string): Promise<PlanResource["attributes"]> {
  const response = await api.request(`/api/environments/${environment}/plans`, {
    method: "POST",
    body: tarOf(SITE),
    headers: { "content-type": "application/x-tar" },
  });
  return ((await response.json()) as { data: PlanResource }).data.attributes;
}

test("a new environment leaves both to the plan", async () => {
  const response = await api.request(`/api/environments/${environmentId}`);
  const { data } = (await response.json()) as Answer;
  expect(data.attributes.serving).toBeNull();
  expect(data.meta).toMatchObject({ health_path: null, serving_mode: null, serving_root: null });
  expect(data.meta.serving_fallback).toBeNull();
});

test("PATCH sets fields of the answer and of the plan, with the origin, and null removes them", async () => {
  const change = { health_path: "/up?deep=1", serving_root: "build/site" };
  const { attributes, meta } = await changeEnvironment(api, environmentId, change);
  expect(attributes.serving).toEqual({ mode: "static", root: "build/site" });
  expect(meta).toMatchObject({ ...change, serving_mode: null });
  expect(await planOf(environmentId)).toMatchObject({
    serving: { mode: "static", root: "build/site", fallback: true, origin: "environment: serving_root" },
    health_path: { value: "/up?deep=1", origin: "environment: health_path" },
  });
  const back = await changeEnvironment(api, environmentId, { health_path: null, serving_root: null });
  expect(back.attributes.serving).toBeNull();
  expect(await planOf(environmentId)).toMatchObject({
    serving: { root: "dist", origin: "detected: Vite" },
    health_path: { value: "/", origin: "default" },
  });
});

test("POST takes them as well", async () => {
  const settings = {
    health_path: "port",
    serving_mode: "static",
    serving_root: "public",
    serving_fallback: "none",
  };
  const path = `/api/applications/${id}/environments`;
  const { status, body } = await send(path, "POST", { name: "staging", branch: "main", ...settings });
  expect(status).toBe(201);
  expect(body.data.attributes.serving).toEqual({ mode: "static", root: "public" });
  expect(body.data.meta).toMatchObject(settings);
  expect(await planOf(body.data.id)).toMatchObject({
    serving: { root: "public", fallback: false },
    health_path: { value: null, origin: "environment: health_path" },
  });
});

describe("a request is refused with the name of the field", () => {
  test.each([
    ["health_path", { health_path: "up" }],
    ["health_path", { health_path: "" }],
    ["health_path", { health_path: "/a b" }],
    ["health_path", { health_path: "/a\r\nHost: other" }],
    ["health_path", { health_path: `/${"a".repeat(500)}` }],
    ["serving_mode", { serving_mode: "spa" }],
    ["serving_fallback", { serving_fallback: "404.html" }],
    ["serving_root", { serving_root: "../other" }],
    ["serving_root", { serving_root: "dist/.." }],
    ["serving_root", { serving_root: "/etc" }],
    ["serving_root", { serving_root: "" }],
    ["serving_root", { serving_root: "a\0b" }],
    ["serving_root", { serving_root: "a".repeat(201) }],
    ["serving_root", { serving_mode: "process", serving_root: "dist" }],
  ])("%s: %j", async (field, json) => {
    const changed = await send(`/api/environments/${environmentId}`, "PATCH", json);
    const made = await send(`/api/applications/${id}/environments`, "POST", {
      name: "refused",
      branch: "main",
      ...json,
    });
    for (const { status, body } of [changed, made]) {
      expect(status).toBe(422);
      expect(Object.keys(body.errors ?? {})).toEqual([field]);
    }
  });

  test("a mode of process beside a folder that is set already", async () => {
    await changeEnvironment(api, environmentId, { serving_root: "dist" });
    const { body } = await send(`/api/environments/${environmentId}`, "PATCH", { serving_mode: "process" });
    expect(body.errors).toEqual({
      serving_root: [
        "A process serves no folder: set serving_mode to static or null, or leave serving_root out.",
      ],
    });
  });
});
