// `pilvi env`: the variables of an environment.
import type { Command } from "commander";
import { type EnvironmentDocument, PilviError } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { table } from "../table.ts";
import { type Variable, variableOf } from "./dotenv.ts";
import { addPull, addPush } from "./env-files.ts";
import { type Target, targetOf, type TargetOptions, withEnvironment } from "./target.ts";

interface ListOptions extends TargetOptions {
  show?: true;
  json?: true;
}

/** Adds `env` with its commands. */
export function addEnv(program: Command, session: Session): void {
  const env = program.command("env").description("the variables of the linked environment");
  addVariableList(env, session);
  addSet(env, session);
  addUnset(env, session);
  addPull(env, session);
  addPush(env, session);
  withExamples(env, ["pilvi env list", "pilvi env set GREETING=hello", "pilvi env pull"]);
}

/** The variables of an environment. @throws CommandError when the token may not see them. */
export function variablesOf({ attributes }: EnvironmentDocument["data"]): Variable[] {
  const variables = attributes[""];
  if (!Array.isArray(variables)) return variables.environment_variables;
  throw new CommandError("This token may not see variables (ability applications:credentials).");
}

/** Sets variables, and says what follows. */
export async function setVariables(
  { io }: Session,
  { environments, environment }: Target,
  variables: Variable[],
): Promise<void> {
  const change = { method: "set" as const, variables };
  const { data } = await environments.setVariables(environment.id, change).catch((error: unknown) => {
    throw namingVariables(error, variables);
  });
  const keys = variables.map(({ key }) => key);
  io.out(`Set ${keys.join(", ")} in ${environment.attributes.name}.\n`);
  io.err(buildHint(keys, data));
}

/**
 * What a restart does not change: values that builds have put into their files. Empty where there are none.
 * @param environment as it has all of the keys.
 */
function buildHint(
  keys: readonly string[],
  { meta: { variables_of_builds: ofBuilds = [] }, relationships }: EnvironmentDocument["data"],
): string {
  const built = keys.filter((key) => ofBuilds.includes(key));
  if (built.length === 0 || relationships.currentDeployment.data === null) return "";
  const [are, values] =
    built.length === 1 ? ["is a part of builds", "value"] : ["are parts of builds", "values"];
  return `${built.join(", ")} ${are}: what is built keeps the former ${values}. Deploy anew with: pilvi deploy\n`;
}

/** The server counts the variables of a request, and a person knows them by their names. */
function namingVariables(error: unknown, variables: readonly Variable[]): unknown {
  if (!(error instanceof PilviError) || error.errors === undefined) return error;
  const lines = Object.entries(error.errors).map(([field, texts]) => {
    const [, index, part] = /^variables\.(\d+)\.(key|value)$/.exec(field) ?? [];
    const key = variables[Number(index)]?.key;
    const text = texts.join(" ");
    return key === undefined
      ? `${field}: ${text}`
      : `${key}: ${text.replaceAll(`The field ${field}`, `Its ${part}`)}`;
  });
  return new CommandError(lines.join("\n"));
}

function addVariableList(env: Command, session: Session): void {
  const command = env
    .command("list")
    .description("list the variables; those of attached resources are not among them")
    .option("--show", "their values as well");
  withJson(withEnvironment(command)).action(async (options: ListOptions) => {
    const { environment } = await targetOf(session, options);
    const variables = variablesOf(environment);
    const isShown = options.show === true;
    if (options.json === true)
      return session.io.out(jsonText(isShown ? variables : variables.map(({ key }) => ({ key }))));
    if (variables.length === 0)
      return session.io.out("There are no variables yet. Set one with: pilvi env set KEY=VALUE\n");
    const rows = variables.map(({ key, value }) => [key, isShown ? value : "hidden"]);
    session.io.out(table([["NAME", "VALUE"], ...rows]));
  });
  withExamples(command, ["pilvi env list", "pilvi env list --show --environment staging"]);
}

function addSet(env: Command, session: Session): void {
  const command = env
    .command("set")
    .description("set variables; the same release is started anew with them")
    .argument("<key=value...>", "variables; the value `-` is read from the input");
  withEnvironment(command).action(async (texts: string[], options: TargetOptions) => {
    const variables = texts.map(variableOf);
    const fromInput = variables.filter(({ value }) => value === "-");
    if (fromInput.length > 1) command.error("error: only one value can be `-`", { exitCode: 2 });
    const target = await targetOf(session, options);
    // The last line of a file or of `echo` has an end that nobody means.
    for (const each of fromInput) each.value = (await session.io.readInput()).replace(/\r?\n$/, "");
    await setVariables(session, target, variables);
  });
  withExamples(command, [
    "pilvi env set GREETING=hello LOG_LEVEL=debug",
    "pilvi env set STRIPE_KEY=- < key.txt",
  ]);
}

function addUnset(env: Command, session: Session): void {
  const command = env
    .command("unset")
    .description("delete variables; the same release is started anew without them")
    .argument("<key...>", "names of variables");
  withEnvironment(command).action(async (keys: string[], options: TargetOptions) => {
    const { environments, environment } = await targetOf(session, options);
    await environments.deleteVariables(environment.id, { keys });
    session.io.out(`Deleted ${keys.join(", ")} in ${environment.attributes.name}.\n`);
    session.io.err(buildHint(keys, environment));
  });
  withExamples(command, ["pilvi env unset GREETING LOG_LEVEL"]);
}
