// What the console says of an environment: its state, its address, and when it was deployed.
import type { EnvironmentResource } from "../../../sdk/index.ts";

/** The digits of an id that are its time, in milliseconds. */
const TIME_DIGITS = 12;

/** The state in a word; an environment that never was deployed runs nothing yet. */
export function stateOf({ attributes: { status }, relationships }: EnvironmentResource): string {
  return status === "running" && relationships.currentDeployment.data === null ? "not deployed" : status;
}

/** Such as `web-shop-production-8k2fqz.localhost:8080`. */
export function addressOf(environment: EnvironmentResource): string {
  return new URL(urlOf(environment)).host;
}

/** The URL at which it is reached. */
export function urlOf({ meta }: EnvironmentResource): string {
  return meta.url;
}

/** When the release began that serves, ISO 8601; undefined before the first. */
export function deployedAt({ relationships }: EnvironmentResource): string | undefined {
  const id = relationships.currentDeployment.data?.id;
  if (id === undefined) return undefined;
  // An id is a prefix and a UUID whose beginning is the time.
  const digits = id.slice(id.indexOf("-") + 1).replaceAll("-", "");
  return new Date(Number.parseInt(digits.slice(0, TIME_DIGITS), 16)).toISOString();
}
