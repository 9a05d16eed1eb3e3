// What an environment gives its processes: their variables, and what they reach.
import type { Plan } from "../../../contracts/plan.ts";
import type { KindContext } from "../../kind.ts";
import { credentialNames, runVariables, secretNames } from "./all-variables.ts";
import { attachedInstances } from "./attached-instances.ts";
import type { ProcessInputs } from "./spec.ts";
import type { EnvironmentRow } from "./store.ts";

/**
 * What the processes of a release get now.
 * @param plan that of the release.
 * @returns also the values that are cut out of their output.
 */
export async function processInputs(
  context: KindContext,
  environment: EnvironmentRow,
  plan: Pick<Plan, "framework"> | null,
): Promise<ProcessInputs & { secrets: string[] }> {
  const variables = await runVariables(context, environment, plan);
  const reaches = await attachedInstances(context.db, environment);
  const credentials = credentialNames(context, environment, variables);
  const secrets = secretNames(context, environment, variables).map((name) => variables[name] ?? "");
  return { variables, credentials, reaches, secrets };
}
