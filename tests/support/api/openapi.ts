// The OpenAPI document for tests, and whether answers conform to it.
import { expect } from "bun:test";
import { z } from "zod";
import type { TestApi } from "./api.ts";

export type Json = Record<string, unknown>;

export interface DocumentedResponse {
  $ref?: string;
  headers?: Record<string, { required?: boolean }>;
  content?: Record<string, { schema: Json; example?: unknown }>;
}

export interface DocumentedOperation {
  operationId: string;
  summary: string;
  description: string;
  deprecated?: boolean;
  tags: string[];
  parameters?: { name: string; in: string; description: string; schema: Json }[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, DocumentedResponse>;
}

export interface Document {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, Json>; responses: Record<string, DocumentedResponse> };
}

/** The validators of each schema of a document, since tests ask for the same validators hundreds of times. */
const validators = { strict: new WeakMap<Json, z.ZodType>(), lenient: new WeakMap<Json, z.ZodType>() };

/** The document that an API serves. */
export async function documentOf(api: TestApi): Promise<Document> {
  return (await (await fetch(`${api.origin}/openapi.json`)).json()) as Document;
}

/**
 * Makes a validator of a schema, with references to components turned into references within the schema.
 * @param isStrict whether undocumented members are refused.
 */
export function validatorOf(document: Document, schema: Json, isStrict = false): z.ZodType {
  const known = isStrict ? validators.strict : validators.lenient;
  const validator = known.get(schema) ?? newValidator(document, schema, isStrict);
  known.set(schema, validator);
  return validator;
}

function newValidator(document: Document, schema: Json, isStrict: boolean): z.ZodType {
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const local = JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/"), (_key, value) => {
    const isObjectSchema =
      isStrict && value?.type === "object" && value.properties && !value.additionalProperties;
    return isObjectSchema ? { ...value, additionalProperties: false } : value;
  });
  return z.fromJSONSchema(local);
}

/** A validator of an operation's request body. */
export function bodyValidatorOf(document: Document, path: string, method: string): z.ZodType {
  const schema = document.paths[path]?.[method]?.requestBody?.content["application/json"]?.schema;
  if (schema === undefined) throw new Error(`${method} ${path} documents no body`);
  return validatorOf(document, schema);
}

/** Fails unless the document describes the answer. */
export async function expectDocumented(
  document: Document,
  path: string,
  method: string,
  response: Response,
): Promise<void> {
  const named = document.paths[path]?.[method]?.responses[String(response.status)];
  if (named === undefined) throw new Error(`${method} ${path} does not document ${response.status}`);
  const described = named.$ref ? document.components.responses[named.$ref.split("/").at(-1) ?? ""] : named;
  for (const [name, header] of Object.entries(described?.headers ?? {})) {
    if (header.required) expect(response.headers.has(name)).toBe(true);
  }
  const contentType = response.headers.get("content-type");
  if (described?.content === undefined) {
    expect(await response.text()).toBe("");
    return;
  }
  const media = described.content[contentType ?? ""];
  if (media === undefined) throw new Error(`${method} ${path} does not document ${contentType}`);
  const parsed = validatorOf(document, media.schema, true).safeParse(await response.json());
  expect(parsed.error?.issues).toBeUndefined();
}
