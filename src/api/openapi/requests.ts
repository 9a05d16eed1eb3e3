// The part of the OpenAPI document that forms are made of: the bodies of requests, with the schemas that they name.
import type { OpenApiDocument } from "./openapi.ts";

/** A document with nothing but `requestBody` in its operations, a tenth of the whole. */
export type RequestsDocument = {
  openapi: string;
  paths: Record<string, Record<string, { requestBody: unknown }>>;
  components: { schemas: Record<string, unknown> };
};

const METHODS = ["post", "put", "patch", "delete"] as const;

export function requestsOf({ openapi, paths = {}, components = {} }: OpenApiDocument): RequestsDocument {
  const kept: RequestsDocument["paths"] = {};
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of METHODS) {
      const requestBody = operations?.[method]?.requestBody;
      if (requestBody !== undefined) kept[path] = { ...kept[path], [method]: { requestBody } };
    }
  }
  return { openapi, paths: kept, components: { schemas: named(kept, components.schemas ?? {}) } };
}

/** The schemas that the text names, and those that they name themselves. */
function named(source: unknown, schemas: Record<string, unknown>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const waiting = [source];
  while (waiting.length > 0) {
    const text = JSON.stringify(waiting.pop());
    for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (name in found) continue;
      found[name] = schemas[name];
      waiting.push(schemas[name]);
    }
  }
  return found;
}
