// Finds the environment that a command is about: that of the link, or another one of the same application.
import type { Command } from "commander";
import {
  type EnvironmentDocument,
  type Environments,
  PilviError,
  type PilviClient,
} from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import type { Session } from "../session.ts";
import { find } from "../shared/find.ts";
import { environmentKind } from "./kind.ts";
import { findLink, type FoundLink, linkFile } from "./link.ts";

/** The value of the option `--environment`. */
export interface TargetOptions {
  environment?: string;
}

/** An environment, and the requests about it. */
export interface Target {
  client: PilviClient;
  environments: Environments;
  link: FoundLink;
  environment: EnvironmentDocument["data"];
}

/** Adds `--environment`. */
export function withEnvironment(command: Command): Command {
  return command.option("--environment <name>", "another environment than the linked one, by name or id");
}

/** The link of the present folder. @throws CommandError without a link, or with a link to another Pilvi. */
export async function requireLink(session: Session): Promise<FoundLink> {
  const link = findLink(session.io.folder);
  if (link === undefined)
    throw new CommandError(
      "This folder is not linked to an application. Link it with: pilvi init, or deploy it with: pilvi deploy",
    );
  await requireSamePilvi(session, link);
  return link;
}

/** @throws CommandError when the commands talk to another Pilvi than that of the link. */
export async function requireSamePilvi(session: Session, link: FoundLink): Promise<void> {
  const url = await session.url();
  if (url === link.url) return;
  throw new CommandError(
    `This folder is linked to the Pilvi at ${link.url}, and PILVI_URL is ${url}. Set PILVI_URL=${link.url}, or delete ${linkFile(link)} to link the folder anew.`,
  );
}

/** @throws CommandError when the folder is not linked, or the environment does not exist. */
export async function targetOf(session: Session, options: TargetOptions): Promise<Target> {
  return await targetOfLink(await session.client(), await requireLink(session), options);
}

/** @throws CommandError when the environment does not exist. */
export async function targetOfLink(
  client: PilviClient,
  link: FoundLink,
  { environment: name }: TargetOptions,
): Promise<Target> {
  const environments = client.applications.environments(link.application_id);
  const { data } =
    name === undefined
      ? await linkedEnvironment(environments, link)
      : await find(environmentKind(link.application_id), client, name);
  return { client, environments, link, environment: data };
}

async function linkedEnvironment(environments: Environments, link: FoundLink): Promise<EnvironmentDocument> {
  try {
    return await environments.get(link.environment_id);
  } catch (error) {
    if (!(error instanceof PilviError && error.status === 404)) throw error;
    throw new CommandError(
      `The environment that this folder is linked to does not exist any more. Delete ${linkFile(link)}, and link it anew with: pilvi init`,
    );
  }
}
