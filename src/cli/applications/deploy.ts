// `pilvi deploy`: uploads a folder, and follows its deployment.
import type { Command } from "commander";
import { CommandError } from "../failure.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { finishDeployment } from "./follow.ts";
import { applicationOfFolder, DEFAULT_REGION, linkFolder } from "./init.ts";
import { checkLinkable, findLink, type FoundLink } from "./link.ts";
import { packFolder } from "./pack.ts";
import { planText } from "./plan-text.ts";
import { withSettingHint } from "./setting-hint.ts";
import { requireSamePilvi, type Target, targetOfLink, withEnvironment } from "./target.ts";
import { uploadFolder } from "./upload.ts";

interface DeployOptions {
  plan?: true;
  environment?: string;
  message?: string;
  wait: boolean;
  json?: true;
}

/** Adds the command. */
export function addDeploy(program: Command, session: Session): void {
  const command = program
    .command("deploy")
    .description("upload this folder and deploy it; the first time, it is linked to an application first")
    .option("--plan", "show what a deployment would do, and deploy nothing");
  withEnvironment(command)
    .option("--message <text>", "what is new (default: the message of the latest commit)")
    .option("--no-wait", "do not wait for the end of the deployment");
  withJson(command).action(async (options: DeployOptions) => {
    if (options.plan === true) return await showPlan(session, options);
    const target = await linkedTarget(session, options);
    const { io } = session;
    const { environments, environment, link } = target;
    const begun = await uploadFolder(io, link.folder, options.message, (upload) =>
      environments.upload(environment.id, upload),
    );
    await finishDeployment(session, target, begun, options);
  });
  withExamples(command, [
    "pilvi deploy",
    "pilvi deploy --plan",
    "pilvi deploy --environment staging --message 'Fix the cart'",
    "pilvi deploy --json | jq -r .data.attributes.status",
  ]);
}

/** The plan of a folder that is not linked is that of the application to which a deployment would link it. */
async function showPlan(session: Session, options: DeployOptions): Promise<void> {
  const { io } = session;
  const target = await planTarget(session, options);
  if (target === undefined)
    io.err("This folder is not linked to an application. The plan is that of a new application.\n");
  const client = await session.client();
  const plan = await uploadFolder(io, target?.link.folder ?? io.folder, options.message, (upload) =>
    target === undefined
      ? client.applications.plan(upload)
      : target.environments.plan(target.environment.id, upload),
  ).catch((error: unknown) => {
    throw withSettingHint(error, target);
  });
  io.out(options.json === true ? jsonText(plan) : planText(plan));
}

/** Where a deployment would go, without a link that is made for it; undefined where it would make an application. */
async function planTarget(session: Session, options: DeployOptions): Promise<Target | undefined> {
  const { folder } = session.io;
  if (findLink(folder) !== undefined) return await linkedTarget(session, options);
  const present = await applicationOfFolder(session);
  const environmentId = present?.data.relationships.defaultEnvironment.data?.id;
  if (present !== undefined && environmentId !== undefined) {
    const { id, attributes } = present.data;
    session.io.err(
      `This folder is not linked. The plan is that of the application ${attributes.name} (${id}).\n`,
    );
    const link = { url: await session.url(), application_id: id, environment_id: environmentId, folder };
    return await targetOfLink(await session.client(), link, options);
  }
  if (options.environment === undefined) return undefined;
  throw new CommandError(
    `This folder is not linked to an application, so it has no environment ${options.environment}. Link it with: pilvi init`,
  );
}

async function linkedTarget(session: Session, options: DeployOptions): Promise<Target> {
  const present = findLink(session.io.folder);
  if (present !== undefined) await requireSamePilvi(session, present);
  const link = present ?? (await linkDeployable(session));
  return await targetOfLink(await session.client(), link, options);
}

/** A folder with nothing to deploy becomes no application. */
async function linkDeployable(session: Session): Promise<FoundLink> {
  const { folder } = session.io;
  checkLinkable(folder);
  await packFolder(folder);
  return (await linkFolder(session, undefined, { region: DEFAULT_REGION })).link;
}
