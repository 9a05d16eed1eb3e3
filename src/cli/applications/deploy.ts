// `pilvi deploy`: uploads a folder, and follows its deployment.
import type { Command } from "commander";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { finishDeployment } from "./follow.ts";
import { DEFAULT_REGION, linkFolder } from "./init.ts";
import { checkLinkable, findLink, type FoundLink } from "./link.ts";
import { packFolder } from "./pack.ts";
import { planText } from "./plan-text.ts";
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
    const target = await linkedTarget(session, options);
    if (options.plan === true) return await showPlan(session, target, options);
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
  return (await linkFolder(session, undefined, DEFAULT_REGION)).link;
}

async function showPlan({ io }: Session, target: Target, { json, message }: DeployOptions): Promise<void> {
  const { environments, environment, link } = target;
  const plan = await uploadFolder(io, link.folder, message, (upload) =>
    environments.plan(environment.id, upload),
  );
  io.out(json === true ? jsonText(plan) : planText(plan));
}
