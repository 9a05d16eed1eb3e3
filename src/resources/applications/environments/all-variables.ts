// The variables that the processes of an environment get: those of what is attached, and those of its customer.
import type { Plan } from "../../../contracts/plan.ts";
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

/**
 * Variables of the build and the processes of a framework, where its customer has not set them. A repository of Symfony
 * says that it is in development, whose packages an installation for production leaves out.
 */
const MODE_VARIABLES: Record<string, Record<string, string>> = {
  Symfony: { APP_ENV: "prod", APP_DEBUG: "0" },
};

/** Variables of a process that runs a framework, where its customer has not set them. */
const FRAMEWORK_VARIABLES: Record<string, Record<string, string>> = {
  ...MODE_VARIABLES,
  Laravel: {
    // Its own choice is a file in the release, which nobody reads and which ends with the process.
    LOG_CHANNEL: "stderr",
    // A build caches the configuration without the variables, and closures of routes signed without the key. So these
    // caches of a build are passed over.
    APP_CONFIG_CACHE: "bootstrap/cache/config-of-process.php",
    APP_ROUTES_CACHE: "bootstrap/cache/routes-of-process.php",
  },
  // It takes a request for one by HTTPS otherwise, and refuses forms whose origin differs; and it takes the edge for the
  // visitor.
  SvelteKit: {
    PROTOCOL_HEADER: "x-forwarded-proto",
    HOST_HEADER: "x-forwarded-host",
    ADDRESS_HEADER: "x-real-ip",
  },
};

/**
 * All variables of a process by name. A customer's own value goes before that of an attached resource.
 * @param plan that of the release.
 */
export async function runVariables(
  context: KindContext,
  environment: EnvironmentRow,
  plan: Pick<Plan, "framework"> | null,
): Promise<Record<string, string>> {
  const { databaseSchemaId, cacheId, websocketApplicationId } = environment;
  const attached = await Promise.all([
    databaseSchemaId === null ? {} : context.connectionVariables("databases", databaseSchemaId),
    cacheId === null ? {} : context.connectionVariables("caches", cacheId),
    websocketApplicationId === null ? {} : context.connectionVariables("websockets", websocketApplicationId),
  ]);
  const address = { APP_URL: urlOf(environment, context.edge), PILVI_ENVIRONMENT: environment.slug };
  const own = ownVariables(context, environment);
  return Object.assign(address, FRAMEWORK_VARIABLES[plan?.framework ?? ""], ...attached, own);
}

/**
 * The variables of a build: the mode of its framework, public variables, and the `build_variables` of the environment. A
 * release may contain the values of `build_variables`, and contains no other secret.
 * @param plan that of the release.
 */
export function buildVariables(
  context: KindContext,
  environment: EnvironmentRow,
  plan: Pick<Plan, "framework">,
): Record<string, string> {
  const own = Object.entries(ownVariables(context, environment));
  const isOfBuild = ([name]: [string, string]) => isOfBuilds(name, environment, plan);
  return { ...modeOf(plan), ...Object.fromEntries(own.filter(isOfBuild)) };
}

/** Whether builds see a variable of the customer's, so that what they make may keep its value. */
export function isOfBuilds(
  name: string,
  { settings }: Pick<EnvironmentRow, "settings">,
  plan: Pick<Plan, "framework"> | null,
): boolean {
  const isNamed = settings.build_variables?.includes(name) === true;
  return isNamed || Object.hasOwn(modeOf(plan), name) || isPublic(name);
}

/** The names of the variables of a build whose values are kept out of its output. */
export function buildSecretNames({ settings }: Pick<EnvironmentRow, "settings">): string[] {
  return (settings.build_variables ?? []).filter((name) => !isPublic(name));
}

function isPublic(name: string): boolean {
  return PUBLIC_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function modeOf(plan: Pick<Plan, "framework"> | null): Record<string, string> {
  return MODE_VARIABLES[plan?.framework ?? ""] ?? {};
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

/** The names of the variables of a process that have passwords of what is attached, which their owners rotate. */
export function credentialNames(
  context: KindContext,
  environment: EnvironmentRow,
  variables: Record<string, string>,
): string[] {
  const own = ownVariables(context, environment);
  return secretNames(context, environment, variables).filter((name) => !(name in own));
}

function ownVariables(
  { vault }: KindContext,
  { id, sealedVariables }: EnvironmentRow,
): Record<string, string> {
  return Object.fromEntries(openVariables(vault, id, sealedVariables).map(({ key, value }) => [key, value]));
}
