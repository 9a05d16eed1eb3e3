// `pilvi apps`: the applications of the organization.
import type { Command } from "commander";
import type { ApplicationDocument, EnvironmentResource } from "../../sdk/index.ts";
import type { CommandError } from "../failure.ts";
import type { Io } from "../io.ts";
import { writeList } from "../list-text.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { deleteOne, type DeleteOptions, requireAnswer, withConfirmation } from "../shared/delete.ts";
import { find } from "../shared/find.ts";
import { joined } from "../shared/list.ts";
import { table } from "../table.ts";
import { environmentCells, environmentColumns } from "./environment-text.ts";
import { applicationKind } from "./kind.ts";
import { addSetRepository } from "./repository.ts";
import { untilGone } from "./until-gone.ts";

const APPLICATION = "an id, a slug, or a name that only one application has";

/** Adds `apps` with its commands. */
export function addApps(program: Command, session: Session): void {
  const apps = program
    .command("apps")
    .description("list, show and delete applications, and say where their commits are fetched from");
  addAppList(apps, session);
  addAppShow(apps, session);
  addSetRepository(apps, session, APPLICATION);
  addSetRoot(apps, session);
  addDeployKeyRotation(apps, session);
  addAppDelete(apps, session);
  withExamples(apps, ["pilvi apps list", "pilvi apps show web-shop"]);
}

function addAppList(apps: Command, session: Session): void {
  const command = apps.command("list").description("list applications");
  withJson(command).action(async ({ json }: { json?: true }) => {
    const client = await session.client();
    const pages = await Array.fromAsync(client.applications.pages());
    if (json === true) return session.io.out(jsonText(joined(pages)));
    const rows = pages
      .flatMap(({ data }) => data)
      .map(({ id, attributes, meta, relationships }) => {
        const environments = String(relationships.environments.data.length);
        return [attributes.name, meta.status, environments, attributes.region, id];
      });
    if (rows.length === 0)
      return session.io.out("There are no applications yet. Deploy a folder with: pilvi deploy\n");
    writeList(session.io, ["NAME", "STATUS", "ENVIRONMENTS", "REGION", "ID"], rows);
  });
  withExamples(command, ["pilvi apps list", "pilvi apps list --json | jq -r '.data[].id'"]);
}

function addAppShow(apps: Command, session: Session): void {
  const command = apps
    .command("show")
    .description("show an application with its environments")
    .argument("<name-or-id>", APPLICATION);
  withJson(command).action(async (nameOrId: string, { json }: { json?: true }) => {
    const document = await find(applicationKind, await session.client(), nameOrId);
    if (json === true) return session.io.out(jsonText(document));
    session.io.out(detailsText(document, await session.url()));
    writeEnvironments(session.io, document);
  });
  withExamples(command, ["pilvi apps show web-shop", "pilvi apps show web-shop --json"]);
}

function addSetRoot(apps: Command, session: Session): void {
  const command = apps
    .command("set-root")
    .description("name the folder of an application in its repository, as of a monorepo")
    .argument("<name-or-id>", APPLICATION)
    .argument("<folder>", "such as apps/web; an empty text is the top");
  withJson(command).action(async (nameOrId: string, folder: string, { json }: { json?: true }) => {
    const client = await session.client();
    const { data } = await find(applicationKind, client, nameOrId);
    const change = { root_directory: folder === "" ? null : folder };
    const document = await client.applications.update(data.id, change);
    if (json === true) return session.io.out(jsonText(document));
    const { name } = data.attributes;
    const place = folder === "" ? "the top of its repository" : `the folder ${folder}`;
    session.io.out(`${name} is made from ${place} at its next deployment.\n`);
  });
  withExamples(command, ["pilvi apps set-root web-shop apps/web", "pilvi apps set-root web-shop ''"]);
}

function addDeployKeyRotation(apps: Command, session: Session): void {
  const command = apps
    .command("rotate-deploy-key")
    .description("give an application with a repository behind SSH a new deploy key, and print it")
    .argument("<name-or-id>", APPLICATION);
  withJson(command).action(async (nameOrId: string, { json }: { json?: true }) => {
    const client = await session.client();
    const { data } = await find(applicationKind, client, nameOrId);
    const document = await client.applications.rotateDeployKey(data.id);
    session.io.out(json === true ? jsonText(document) : `${document.data.meta.deploy_key ?? ""}\n`);
  });
  withExamples(command, ["pilvi apps rotate-deploy-key web-shop"]);
}

function addAppDelete(apps: Command, session: Session): void {
  const command = apps
    .command("delete")
    .description("delete an application with all its environments and releases")
    .argument("<name-or-id>", APPLICATION);
  withConfirmation(command).action(async (nameOrId: string, options: DeleteOptions) => {
    requireAnswer(command, session, options);
    const client = await session.client();
    const request = { kind: applicationKind, client, nameOrId, options };
    await deleteOne(session, request, async ({ data }): Promise<CommandError | undefined> => {
      return await untilGone(session, `the application ${data.attributes.name}`, options.timeout, (signal) =>
        client.applications.get(data.id, { signal }),
      );
    });
  });
  withExamples(command, ["pilvi apps delete web-shop", "pilvi apps delete web-shop --yes --wait"]);
}

function detailsText({ data }: ApplicationDocument, url: string): string {
  const { attributes, meta } = data;
  return table([
    ["Name", attributes.name],
    ["Id", data.id],
    ["Status", meta.status],
    ["Region", attributes.region],
    ["Repository", meta.repository_url ?? `${url}/git/${attributes.slug}.git`],
    ...(meta.repository_username === null ? [] : [["Fetched as", meta.repository_username]]),
    ...(meta.deploy_key === null ? [] : [["Deploy key", meta.deploy_key]]),
    ...(meta.root_directory === null ? [] : [["Folder in it", meta.root_directory]]),
    ["Created", attributes.created_at],
  ]);
}

function writeEnvironments(io: Io, { included = [] }: ApplicationDocument): void {
  const environments = included.filter((each): each is EnvironmentResource => each.type === "environments");
  if (environments.length === 0) return;
  io.out("\n");
  writeList(io, environmentColumns, environments.map(environmentCells));
}
