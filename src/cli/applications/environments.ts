// `pilvi environments`: the environments of an application.
import type { Command } from "commander";
import type { PilviClient } from "../../sdk/index.ts";
import { writeList } from "../list-text.ts";
import { nameArgument, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { deleteOne, type DeleteOptions, requireAnswer, withConfirmation } from "../shared/delete.ts";
import { find } from "../shared/find.ts";
import { joined } from "../shared/list.ts";
import { environmentCells, environmentColumns, environmentText } from "./environment-text.ts";
import { addEnvironmentUpdate } from "./environment-update.ts";
import { applicationKind, environmentKind } from "./kind.ts";
import { requireLink } from "./target.ts";
import { untilGone } from "./until-gone.ts";

/** The value of the option `--app`. */
export interface AppOptions {
  app?: string;
}

/** Adds `environments` with its commands. */
export function addEnvironments(program: Command, session: Session): void {
  const environments = program
    .command("environments")
    .description("list, create, change and delete the environments of an application");
  addEnvironmentList(environments, session);
  addEnvironmentCreate(environments, session);
  addEnvironmentUpdate(environments, session);
  addEdgeCachePurge(environments, session);
  addEnvironmentDelete(environments, session);
  withExamples(environments, [
    "pilvi environments list",
    "pilvi environments create staging --branch develop",
  ]);
}

/** Adds `--app`. */
export function withApp(command: Command): Command {
  return command.option("--app <name>", "another application than the linked one, by name or id");
}

/** The application that `--app` names, or else the linked application. @throws CommandError when there is none. */
export async function applicationIdOf(
  session: Session,
  client: PilviClient,
  { app }: AppOptions,
): Promise<string> {
  if (app === undefined) return (await requireLink(session)).application_id;
  return (await find(applicationKind, client, app)).data.id;
}

function addEnvironmentList(environments: Command, session: Session): void {
  const command = environments.command("list").description("list the environments of an application");
  withJson(withApp(command)).action(async (options: AppOptions & { json?: true }) => {
    const client = await session.client();
    const id = await applicationIdOf(session, client, options);
    const pages = await Array.fromAsync(client.applications.environments(id).pages());
    if (options.json === true) return session.io.out(jsonText(joined(pages)));
    const found = pages.flatMap(({ data }) => data);
    if (found.length === 0)
      return session.io.out("It has no environments. Create one with: pilvi environments create NAME\n");
    writeList(session.io, environmentColumns, found.map(environmentCells));
  });
  withExamples(command, ["pilvi environments list", "pilvi environments list --app web-shop"]);
}

function addEnvironmentCreate(environments: Command, session: Session): void {
  const command = environments
    .command("create")
    .description("create an environment, which waits for its first deployment")
    .argument("<name>", "1 to 40 letters, digits, spaces, underscores and hyphens")
    .option("--branch <branch>", "the branch whose commits it deploys", "main");
  withJson(withApp(command)).action(
    async (name: string, options: AppOptions & { branch: string; json?: true }) => {
      const client = await session.client();
      const id = await applicationIdOf(session, client, options);
      const { branch } = options;
      const created = await client.applications.environments(id).create({ name, branch });
      if (options.json === true) return session.io.out(jsonText(created));
      const { data } = await client.applications.get(id);
      session.io.out(environmentText(created.data, data.attributes.name));
      session.io.err(`Deploy to it with: pilvi deploy --environment '${name}'\n`);
    },
  );
  withExamples(command, ["pilvi environments create staging --branch develop"]);
}

function addEdgeCachePurge(environments: Command, session: Session): void {
  const command = environments
    .command("purge-edge-cache")
    .description("have the edge answer with nothing that it has kept of an environment so far")
    .argument("<name-or-id>", nameArgument("environment"));
  withJson(withApp(command)).action(async (nameOrId: string, options: AppOptions & { json?: true }) => {
    const client = await session.client();
    const id = await applicationIdOf(session, client, options);
    const { data } = await find(environmentKind(id), client, nameOrId);
    const purged = await client.applications.environments(id).purgeEdgeCache(data.id);
    if (options.json === true) return session.io.out(jsonText(purged));
    session.io.out(`Purged the edge cache of ${data.attributes.name}.\n`);
  });
  withExamples(command, ["pilvi environments purge-edge-cache production"]);
}

function addEnvironmentDelete(environments: Command, session: Session): void {
  const command = environments
    .command("delete")
    .description("delete an environment with its releases and logs")
    .argument("<name-or-id>", nameArgument("environment"));
  withConfirmation(withApp(command)).action(async (nameOrId: string, options: AppOptions & DeleteOptions) => {
    requireAnswer(command, session, options);
    const client = await session.client();
    const id = await applicationIdOf(session, client, options);
    const request = { kind: environmentKind(id), client, nameOrId, options };
    await deleteOne(session, request, async ({ data }) => {
      const name = `the environment ${data.attributes.name}`;
      return await untilGone(session, name, options.timeout, (signal) =>
        client.applications.environments(id).get(data.id, { signal }),
      );
    });
  });
  withExamples(command, ["pilvi environments delete staging --yes --wait"]);
}
