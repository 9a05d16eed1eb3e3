// The shapes of `config` as documentation: JSON Schema for the OpenAPI document, and the list in `GET
// /databases/types`.
import { z } from "zod";
import type { DatabaseType } from "../types.ts";
import { configVariants } from "./index.ts";

/** A member in JSON Schema, with the keywords that members of `config` use. */
interface MemberSchema {
  type?: string;
  anyOf?: MemberSchema[];
  enum?: (string | number)[];
  description?: string;
  example?: unknown;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  default?: unknown;
}

/** A member as `GET /databases/types` lists it. */
interface MemberDescription {
  name: string;
  type: string;
  required: boolean;
  nullable: boolean;
  description: string;
  default: unknown;
  example: unknown;
  min?: number;
  max?: number;
  enum?: (string | number)[];
}

/** The `config` of a request for this type, in JSON Schema. Null means an absent member. */
export function requestSchemaOf(type: DatabaseType) {
  const properties = membersOf(type).map((member) => {
    return [member.name, { default: member.preset, ...memberSchemaOf(member) }] as const;
  });
  return { type: ["object", "null"], title: titleOf(type), properties: Object.fromEntries(properties) };
}

/** The `config` of a request to change a cluster of this type, in JSON Schema. */
export function changeSchemaOf(type: DatabaseType) {
  const properties = membersOf(type).map((member) => [member.name, memberSchemaOf(member)] as const);
  return { type: "object" as const, title: titleOf(type), properties: Object.fromEntries(properties) };
}

function memberSchemaOf({ schema: { description, example, anyOf, ...rest } }: Member) {
  return { description, examples: [example], anyOf: anyOf ?? [rest, { type: "null" }] };
}

function titleOf(type: DatabaseType): string {
  return `${configVariants[type].title} config`;
}

/** The members of a type's `config`, one by one. */
export function memberDescriptionsOf(type: DatabaseType): MemberDescription[] {
  return membersOf(type).map(describe);
}

function describe({ name, schema, preset }: Member): MemberDescription {
  const { type = "string", minimum, maximum, enum: values } = schema.anyOf?.[0] ?? schema;
  return {
    name,
    type,
    required: false,
    nullable: true,
    description: schema.description ?? "",
    default: preset,
    example: schema.example,
    ...(minimum !== undefined && { min: minimum }),
    ...(maximum !== undefined && { max: maximum }),
    ...(values !== undefined && { enum: values }),
  };
}

/** A member with its default. */
interface Member {
  name: string;
  schema: MemberSchema;
  preset: unknown;
}

function membersOf(type: DatabaseType): Member[] {
  const { schema, defaults } = configVariants[type];
  const { properties } = z.toJSONSchema(schema);
  const presets = defaults as Record<string, unknown>;
  return Object.entries(properties ?? {}).map(([name, member]) => ({
    name,
    schema: member as MemberSchema,
    preset: presets[name],
  }));
}
