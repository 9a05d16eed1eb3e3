// The schemas of the OpenAPI document, all of them: a client that checks bodies by them refuses and misses nothing.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startApi, type TestApi } from "../support/api/api.ts";
import { documentOf, expectDocumented, type Document, type Json } from "../support/api/openapi.ts";

/** What may stand beside a reference without changing which values are valid. */
const ANNOTATIONS = new Set(["description", "default", "example", "examples", "deprecated", "title"]);

/** What gives a member a type. */
const TYPES = ["type", "$ref", "enum", "const", "anyOf", "oneOf"];

let api: TestApi;
let document: Document;
beforeAll(async () => {
  api = await startApi();
  document = await documentOf(api);
});
afterAll(() => api.stop());

test("no reference has a sibling that changes which values are valid", () => {
  const faults = objectsIn(document).flatMap(([at, object]) => {
    if (typeof object.$ref !== "string") return [];
    const siblings = Object.keys(object).filter((key) => key !== "$ref" && !ANNOTATIONS.has(key));
    return siblings.map((key) => `${at}: ${key}`);
  });
  expect(faults).toEqual([]);
});

test("no key of the tools that made the document is left in it", () => {
  const keys = ["override", "param", "header", "unusedIO", "outputId"];
  const schemas = objectsIn(document).filter(([at]) => at.includes("/schema"));
  const faults = schemas.flatMap(([at, object]) =>
    at.endsWith("/properties") ? [] : keys.filter((key) => key in object).map((key) => `${at}: ${key}`),
  );
  expect(faults).toEqual([]);
});

test("every member of a body, and each of its alternatives, has a type", async () => {
  const requests = await (await fetch(`${api.origin}/openapi.json?part=requests`)).json();
  const objects = objectsIn(requests);
  expect(objects.length).toBeGreaterThan(100);
  const faults = objects.flatMap(([at, object]) => {
    const members = Object.entries(at.endsWith("/properties") ? object : {});
    const alternatives = [object.anyOf, object.oneOf].filter(Array.isArray).flat().entries();
    const named = [...members, ...alternatives] as [string | number, Json][];
    return named.filter(([, schema]) => !hasType(schema)).map(([name]) => `${at}/${name}`);
  });
  expect(faults).toEqual([]);
});

test("every operation that takes an idempotency key documents the refusal of a key", async () => {
  const taking = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === "Idempotency-Key"))
      .map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
  );
  expect(taking.length).toBeGreaterThan(3);
  const faults = taking.filter(({ operation }) => operation.responses["422"] === undefined);
  expect(faults.map(({ name }) => name)).toEqual([]);
});

test("the refusal of a key by an operation without a body matches the document", async () => {
  const init = { method: "POST", headers: { "Idempotency-Key": "k".repeat(1000) } };
  const answer = await api.request(
    "/api/applications/app-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f/rotate-deploy-key",
    init,
  );
  expect(answer.status).toBe(422);
  await expectDocumented(document, "/applications/{id}/rotate-deploy-key", "post", answer);
});

function hasType(schema: Json): boolean {
  return TYPES.some((key) => key in schema);
}

/** All objects of the document with their places, except those of examples and defaults. */
function objectsIn(value: unknown, at = ""): [at: string, object: Json][] {
  if (typeof value !== "object" || value === null) return [];
  const below = Object.entries(value)
    .filter(([key]) => at.endsWith("/properties") || !["example", "examples", "default"].includes(key))
    .flatMap(([key, each]) => objectsIn(each, `${at}/${key}`));
  return Array.isArray(value) ? below : [[at, value as Json], ...below];
}
