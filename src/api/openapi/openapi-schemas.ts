// Adds to the rendered schemas those rules of the API that a Zod schema alone cannot express.
import type { z } from "zod";
import type { ZodOpenApiOverride } from "zod-openapi";
import { objectSchemaOf } from "../operation/validation.ts";

type Override = Extract<ZodOpenApiOverride, (context: never) => void>;
type JsonSchema = Parameters<Override>[0]["jsonSchema"];

/**
 * The override that is called for every schema of the document.
 * @param bodies the bodies of all requests; parameters of the URL cannot be null.
 */
export function schemaDescriber(bodies: z.ZodObject[]): Override {
  const nullable = new Set<unknown>(bodies.flatMap(objectsIn));
  return ({ jsonSchema, zodSchema }) => {
    if (zodSchema._zod.def.type !== "object") return;
    // Members may be added to answers at any time, so a client must not refuse unknown members.
    delete jsonSchema.additionalProperties;
    if (nullable.has(zodSchema)) allowNullForOptional(jsonSchema);
  };
}

/**
 * The document without what zod-openapi leaves beside a reference: the override is not called there, and a sibling that
 * forbids other members would forbid those of the schema behind the reference.
 */
export function withoutRefusals<Document>(document: Document): Document {
  return JSON.parse(JSON.stringify(document), (_key, value) => {
    if (typeof value?.$ref === "string") delete value.additionalProperties;
    return value;
  });
}

/** A schema and the objects in it, at every depth. */
function objectsIn(schema: z.ZodObject): z.ZodObject[] {
  const inner = Object.values(schema.shape).map(objectSchemaOf);
  return [schema, ...inner.flatMap((object) => (object === undefined ? [] : objectsIn(object)))];
}

/**
 * In a request null means that an optional member is left out. The definition of a member may be filled in only after
 * this, so the form with null is made of it when the document is written.
 */
function allowNullForOptional(schema: JsonSchema): void {
  const required = new Set(schema.required ?? []);
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (required.has(name) || typeof member !== "object") continue;
    const written = { toJSON: () => orNull(member) } as JsonSchema;
    schema.properties = { ...schema.properties, [name]: written };
  }
}

function orNull(schema: JsonSchema): JsonSchema {
  if (typeof schema.type === "string" && schema.enum === undefined) {
    return { ...schema, type: [schema.type, "null"] } as JsonSchema;
  }
  const { description, default: preset, ...rest } = schema;
  return {
    ...(description !== undefined && { description }),
    ...(preset !== undefined && { default: preset }),
    anyOf: [rest, { type: "null" }],
  } as JsonSchema;
}
