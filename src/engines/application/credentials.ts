// The variables of an application with passwords that are rotated, apart from all others.
import type { ApplicationSpec } from "../../contracts/instance-spec.ts";

type Variables = Pick<ApplicationSpec, "variables" | "credentials">;

/** The variables whose changed values restart nothing. */
export function credentialsOf({ variables, credentials = [] }: Variables): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => credentials.includes(name)));
}

/** The variables whose changed values restart the process. */
export function othersOf({ variables, credentials = [] }: Variables): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !credentials.includes(name)));
}
