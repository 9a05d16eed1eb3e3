// The variables that the processes of an environment get: those of what is attached, and those of its customer.
import type { KindContext } from "../../kind.ts";
import { urlOf } from "./address.ts";
import type { EnvironmentRow } from "./store.ts";
import { openVariables } from "./variables.ts";

/** Beginnings of names whose values frameworks put into what browsers get, so that a build needs them. */
const PUBLIC_PREFIXES = [
  "VITE_",
  "NEXT_PUBLIC_",
  "NUXT_PUBLIC_",
  "PUBLIC_",
  "REACT_APP_",
  "GATSBY_",
  "EXPO_PUBLIC_",
];

/** All variables of a process by name; a customer's own value goes before that of an attached resource. */
export async function runVariables(
  context: KindContext,
  environment: EnvironmentRow,
): Promise<Record<string, string>> {
  const { databaseSchemaId, cacheId, websocketApplicationId } = environment;
  const attached = await Promise.all([
    databaseSchemaId === null ? {} : context.connectionVariables("databases", databaseSchemaId),
    cacheId === null ? {} : context.connectionVariables("caches", cacheId),
    websocketApplicationId === null ? {} : context.connectionVariables("websockets", websocketApplicationId),
  ]);
  const address = { APP_URL: urlOf(environment, context.edge), PILVI_ENVIRONMENT: environment.slug };
  return Object.assign(address, ...attached, ownVariables(context, environment));
}

/** The variables of a build: public values alone, so that no release has a secret in it. */
export function buildVariables(context: KindContext, environment: EnvironmentRow): Record<string, string> {
  const own = Object.entries(ownVariables(context, environment));
  return Object.fromEntries(
    own.filter(([name]) => PUBLIC_PREFIXES.some((prefix) => name.startsWith(prefix))),
  );
}

/** Names of attached variables whose values are secret; other values, such as a port, stand in many outputs. */
const SECRET_NAMES = /PASSWORD|SECRET|_URL$/;

/** The names of the variables of a process whose values are kept out of outputs. */
export function secretNames(
  context: KindContext,
  environment: EnvironmentRow,
  variables: Record<string, string>,
): string[] {
  const own = ownVariables(context, environment);
  return Object.keys(variables).filter(
    (name) => name in own || (SECRET_NAMES.test(name) && name !== "APP_URL"),
  );
}

function ownVariables(
  { vault }: KindContext,
  { id, sealedVariables }: EnvironmentRow,
): Record<string, string> {
  return Object.fromEntries(openVariables(vault, id, sealedVariables).map(({ key, value }) => [key, value]));
}
