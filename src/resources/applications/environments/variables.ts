// The environment variables of an environment: sealed as a whole, in the order in which they were added.
import { invalid } from "../../../api/jsonapi/errors.ts";
import { newPassword, type Vault } from "../../../lib/secrets.ts";
import {
  MAX_VARIABLES,
  MAX_VARIABLES_BYTES,
  type EnvironmentVariable,
  type VariablesInsert,
} from "./variable-schema.ts";

const KEY_BYTES = 32;

/** The variables that a new environment has: a key for frameworks that encrypt with it. */
export function firstVariables(): EnvironmentVariable[] {
  const key = Buffer.from(newPassword(KEY_BYTES), "latin1").toString("base64");
  return [{ key: "APP_KEY", value: `base64:${key}` }];
}

export function sealVariables(vault: Vault, id: string, variables: EnvironmentVariable[]): string {
  return vault.seal(JSON.stringify(variables), id);
}

export function openVariables(vault: Vault, id: string, sealed: string): EnvironmentVariable[] {
  return JSON.parse(vault.open(sealed, id)) as EnvironmentVariable[];
}

/**
 * The variables after an insert.
 * @throws ApiError 422 when they are too many or too large.
 */
export function inserted(
  present: readonly EnvironmentVariable[],
  { method, variables }: VariablesInsert,
): EnvironmentVariable[] {
  const result = method === "append" ? [...present, ...variables] : withValues(present, variables);
  if (result.length > MAX_VARIABLES) {
    throw invalid({ variables: [`The environment may have ${MAX_VARIABLES} variables at most.`] });
  }
  const bytes = Buffer.byteLength(result.map(({ key, value }) => `${key}=${value}`).join("\0"));
  if (bytes > MAX_VARIABLES_BYTES) {
    throw invalid({ variables: [`All variables together may have ${MAX_VARIABLES_BYTES} bytes at most.`] });
  }
  return result;
}

/** The variables without those of the given keys. @throws ApiError 422 that names the keys that are missing. */
export function withoutKeys(
  present: readonly EnvironmentVariable[],
  keys: readonly string[],
): EnvironmentVariable[] {
  const known = new Set(present.map(({ key }) => key));
  const missing = keys.filter((key) => !known.has(key));
  if (missing.length > 0) {
    throw invalid({ keys: [`The environment has no variable ${missing.join(", ")}; nothing was deleted.`] });
  }
  const gone = new Set(keys);
  return present.filter(({ key }) => !gone.has(key));
}

/** Variables with the same key as a later variable take its value; a program sees the last of them. */
function withValues(
  present: readonly EnvironmentVariable[],
  variables: readonly EnvironmentVariable[],
): EnvironmentVariable[] {
  const values = new Map(variables.map(({ key, value }) => [key, value]));
  const changed = present.map((variable) => ({
    ...variable,
    value: values.get(variable.key) ?? variable.value,
  }));
  const known = new Set(present.map(({ key }) => key));
  const added = [...values].filter(([key]) => !known.has(key)).map(([key, value]) => ({ key, value }));
  return [...changed, ...added];
}
