// `pilvi init`: links a folder to an application, which is created unless it exists.
import { basename } from "node:path";
import type { Command } from "commander";
import type { ApplicationDocument, NewApplication, PilviClient } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import { applicationKind } from "./kind.ts";
import { checkLinkable, findLink, type FoundLink, linkFile, writeLink } from "./link.ts";
import { requireSamePilvi } from "./target.ts";

interface RootOption {
  root?: string | undefined;
}

interface InitOptions extends RootOption {
  region: string;
  json?: true;
}

/** The bounds that the API has for names of applications. */
const [MIN_NAME, MAX_NAME] = [3, 40];

export const DEFAULT_REGION = "us-east-1";

/** Adds the command. */
export function addInit(program: Command, session: Session): void {
  const command = program
    .command("init")
    .description("link this folder to an application, which is created unless it exists")
    .argument("[name]", "the application's name, 3 to 40 characters (default: the name of the folder)")
    .option("--region <region>", "a label; one machine serves all regions", DEFAULT_REGION)
    .option("--root <folder>", "the application's folder in a monorepo, such as apps/web");
  withJson(command).action(async (name: string | undefined, options: InitOptions) => {
    const { io } = session;
    const present = findLink(io.folder);
    if (present !== undefined) await requireSamePilvi(session, present);
    const link = present ?? (await linkFolder(session, name, options)).link;
    const client = await session.client();
    const document = await find(applicationKind, client, link.application_id);
    const { attributes } = document.data;
    if (present !== undefined && name !== undefined && name !== attributes.name)
      throw new CommandError(
        `${link.folder} is linked to the application ${attributes.name} already. Delete ${linkFile(link)} to link it anew.`,
      );
    refuseOtherRoot(document, options);
    if (options.json === true) return io.out(jsonText(document));
    if (present !== undefined)
      io.out(`${link.folder} is linked to the application ${attributes.name} already.\n`);
    io.out(nextSteps(link, attributes.slug));
  });
  withExamples(command, ["pilvi init", "pilvi init web-shop && pilvi deploy", "pilvi init --root apps/web"]);
}

/** An application that is there already may have been made from another folder. @throws CommandError */
function refuseOtherRoot({ data }: ApplicationDocument, { root }: RootOption): void {
  const present = data.meta.root_directory;
  if (root === undefined || root === (present ?? "")) return;
  const place = present === null ? "the top of the repository" : `the folder ${present}`;
  throw new CommandError(
    `The application ${data.attributes.name} is made from ${place}. Change that with: pilvi apps set-root ${data.id} ${root === "" ? "''" : root}`,
  );
}

/** What a link is good for, with the remote for git. */
function nextSteps({ url }: FoundLink, slug: string): string {
  return [
    "\nDeploy it with:  pilvi deploy",
    `Or with git:     git remote add pilvi ${url}/git/${slug}.git`,
    "                 git push pilvi main   (any user name; the password is a token)\n",
  ].join("\n");
}

/**
 * Links the present folder to the application with a name, and to its default environment.
 * @throws CommandError when several applications have the name, or the person at the terminal does not want it.
 */
export async function linkFolder(
  session: Session,
  name: string | undefined,
  { region, root }: RootOption & { region: string },
): Promise<{ link: FoundLink; isNew: boolean }> {
  const { io } = session;
  checkLinkable(io.folder);
  const wanted = name ?? nameOfFolder(io.folder);
  const client = await session.client();
  const present = await applicationNamed(client, wanted);
  if (present !== undefined) refuseOtherRoot(present, { root });
  if (name === undefined && io.isInputTerminal) await confirmName(session, wanted, present !== undefined);
  // As with other creates, the server checks the values.
  const { data } =
    present ??
    (await client.applications.create({
      name: wanted,
      region,
      ...(root !== undefined && { root_directory: root === "" ? null : root }),
    } as NewApplication));
  const environmentId = data.relationships.defaultEnvironment.data?.id;
  if (environmentId === undefined)
    throw new CommandError(
      `The application ${wanted} has no environment. Create one with: pilvi environments create NAME --app ${data.id}`,
    );
  const link = { url: await session.url(), application_id: data.id, environment_id: environmentId };
  writeLink(io.folder, link);
  const what = present === undefined ? "the new application" : "the application";
  io.err(`Linked ${io.folder} to ${what} ${wanted} (${data.id}).\n`);
  return { link: { ...link, folder: io.folder }, isNew: present === undefined };
}

/** The application that a deployment of the present folder would link it to; undefined where it would create one. */
export async function applicationOfFolder(session: Session): Promise<ApplicationDocument | undefined> {
  const { folder } = session.io;
  checkLinkable(folder);
  return isNameable(folder)
    ? await applicationNamed(await session.client(), nameOfFolder(folder))
    : undefined;
}

async function applicationNamed(client: PilviClient, name: string): Promise<ApplicationDocument | undefined> {
  for await (const { attributes, meta } of client.applications.all()) {
    if (attributes.name === name && meta.status !== "deleting")
      return await find(applicationKind, client, name);
  }
  return undefined;
}

async function confirmName({ io }: Session, name: string, exists: boolean): Promise<void> {
  const what = exists ? `the application ${name}, which exists` : `a new application ${name}`;
  const answer = await io.ask(`Link ${io.folder} to ${what}? [Y/n] `);
  if (answer !== null && /^(y(es)?)?$/i.test(answer.trim())) return;
  throw new CommandError("Nothing was linked. Choose a name with: pilvi init NAME");
}

/**
 * The folder's name with the characters that names of applications may have.
 * @throws CommandError when no letter or digit of it may stand in one: all such folders would get the same name, and
 * the second would be deployed over the application of the first.
 */
function nameOfFolder(folder: string): string {
  if (!isNameable(folder))
    throw new CommandError(
      `The name of the folder ${folder} has no Latin letter and no digit for the name of an application. Choose a name with: pilvi init NAME`,
    );
  const name = basename(folder)
    .replaceAll(/[^\p{Script=Latin}0-9 _.'-]+/gu, "-")
    .slice(0, MAX_NAME);
  return name.length < MIN_NAME ? `app-${name}`.replace(/-$/, "") : name;
}

function isNameable(folder: string): boolean {
  return /[\p{Script=Latin}0-9]/u.test(basename(folder));
}
