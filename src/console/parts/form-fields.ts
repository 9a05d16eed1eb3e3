// The fields of a form, out of the schema of a request in the OpenAPI document.

/** JSON Schema with the keywords that requests use. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  required?: string[];
  enum?: (string | number)[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
}

export type Value = string | number | boolean | undefined;

/** The values of a form by the names of its fields, such as `config.cu_min`. */
export type Values = Record<string, Value>;

export interface Field {
  /** As the API names it in errors. */
  name: string;
  label: string;
  note: string | undefined;
  control: "text" | "lines" | "password" | "number" | "check" | "select";
  options: (string | number)[];
  preset: Value;
  isRequired: boolean;
  /** Whether a value that is set can be taken away again, in a form that changes something. */
  canBeTakenAway?: boolean;
  min?: number | undefined;
  max?: number | undefined;
}

/** The document's part that forms read. */
export interface ApiDocument {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>;
  components: { schemas: Record<string, Schema> };
}

/** The schema of a request's body. @throws Error when the document has no such request. */
export function bodySchemaOf(document: ApiDocument, method: string, path: string): Schema {
  const content = document.paths[path]?.[method]?.requestBody?.content ?? {};
  const [body] = Object.values(content);
  if (body === undefined) throw new Error(`The API has no ${method} ${path} with a body.`);
  return resolved(document, body.schema);
}

/** The fields for a body of this type; members that the type cannot have are left out. */
export function fieldsOf(document: ApiDocument, body: Schema, type: Value): Field[] {
  const variant = (body.oneOf ?? [])
    .map((each) => resolved(document, each))
    .find(({ properties }) => properties?.type?.const === type);
  const required = new Set(body.required);
  return Object.entries(body.properties ?? {}).flatMap(([name, schema]) => {
    const general = resolved(document, schema);
    const special = variant?.properties?.[name];
    const merged = special === undefined ? general : { ...general, ...resolved(document, special) };
    return fieldsIn(document, name, merged, required.has(name));
  });
}

/** The types that a body may have, with their names. */
export function typesIn(document: ApiDocument, body: Schema): { value: string; label: string }[] {
  return (body.oneOf ?? []).flatMap((each) => {
    const { properties, title } = resolved(document, each);
    const value = properties?.type?.const;
    return typeof value === "string" ? [{ value, label: title ?? value }] : [];
  });
}

function fieldsIn(document: ApiDocument, name: string, schema: Schema, isRequired: boolean): Field[] {
  // A member with a fixed value is no choice.
  if (name !== "type" && (schema.type === "null" || schema.anyOf?.some((each) => each.const !== undefined)))
    return [];
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).flatMap(([member, inner]) =>
      fieldsIn(document, `${name}.${member}`, resolved(document, inner), false),
    );
  }
  const { anyOf, ...rest } = schema;
  const choices = alternativesIn(document, anyOf).filter((each) => each.type !== "null");
  const plain = withChoices({ ...rest, ...choices[0] }, choices);
  const control = controlOf(plain);
  if (control === undefined) return [];
  return [
    {
      name,
      label: labelOf(name),
      note: schema.description ?? plain.description,
      control,
      // Null is the same as a value that is left out.
      options: (plain.enum ?? []).filter((value) => value !== null),
      preset: presetOf(plain, control, isRequired),
      isRequired,
      min: plain.minimum,
      max: plain.maximum,
    },
  ];
}

/** The alternatives of a member; a member that may be null and left out has null twice, one within the other. */
function alternativesIn(document: ApiDocument, anyOf: readonly Schema[] = []): Schema[] {
  return anyOf
    .map((each) => resolved(document, each))
    .flatMap((each) => (each.anyOf === undefined ? [each] : alternativesIn(document, each.anyOf)));
}

/** One among several fixed values is a choice, as an enumeration is. */
function withChoices(schema: Schema, alternatives: readonly Schema[]): Schema {
  const values = alternatives
    .map((each) => each.const)
    .filter((value) => typeof value === "string" || typeof value === "number");
  return values.length > 1 && values.length === alternatives.length ? { ...schema, enum: values } : schema;
}

/** A longer text may have several lines. */
const LINE_CHARACTERS = 2_000;

function controlOf(schema: Schema): Field["control"] | undefined {
  const { type: types, enum: values, const: fixed, format, maxLength = 0 } = schema;
  const type = Array.isArray(types) ? types.find((each) => each !== "null") : types;
  if (values !== undefined || fixed !== undefined) return "select";
  if (type === "boolean") return "check";
  if (type === "integer" || type === "number") return "number";
  if (type !== "string") return undefined;
  if (format === "password") return "password";
  return maxLength > LINE_CHARACTERS ? "lines" : "text";
}

function presetOf({ default: preset, enum: values }: Schema, control: string, isRequired: boolean): Value {
  if (typeof preset === "string" || typeof preset === "number" || typeof preset === "boolean") return preset;
  if (control === "select" && isRequired) return values?.[0];
  return control === "check" ? false : undefined;
}

/** `config.suspend_seconds` is `Suspend seconds`. */
function labelOf(name: string): string {
  const words = (name.split(".").at(-1) ?? name)
    .replaceAll("_", " ")
    .replace(/^(is|uses) | enabled$/g, "")
    .replace(/^cu /, "CU ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function resolved(document: ApiDocument, schema: Schema): Schema {
  const { $ref: ref, allOf, ...rest } = schema;
  const parts = (allOf ?? []).map((each) => resolved(document, each));
  if (ref !== undefined) {
    const named = document.components.schemas[ref.split("/").at(-1) ?? ""];
    if (named !== undefined) parts.unshift(resolved(document, named));
  }
  return Object.assign({}, ...parts, rest) as Schema;
}

/** The body of a request: the required values, and the values that differ from the API's defaults. */
export function bodyOf(fields: readonly Field[], values: Values): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, isRequired, preset } of fields) {
    const value = values[name] ?? preset;
    if (value === undefined || (!isRequired && value === preset)) continue;
    const [first = name, member] = name.split(".");
    if (member === undefined) body[first] = value;
    else body[first] = { ...(body[first] as object | undefined), [member]: value };
  }
  return body;
}

/** The values of these fields, as far as they were given. */
export function valuesOf(names: readonly string[], values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

/** The values that were given after others had been sent, or that are others by now. */
export function valuesSince(sent: Values, values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !(name in sent) || sent[name] !== value),
  );
}

/** The values for a text that people may copy, in which a password is only a word for one. */
export function withHiddenPasswords(fields: readonly Field[], values: Values): Values {
  const hidden = fields
    .filter(({ name, control }) => control === "password" && values[name] !== undefined)
    .map(({ name }) => [name, "PASSWORD"]);
  return { ...values, ...Object.fromEntries(hidden) };
}
