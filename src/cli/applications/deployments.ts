// `pilvi deployments` and `pilvi rollback`.
import type { Command } from "commander";
import { type DeploymentDocument, type DeploymentResource, PilviError } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { countingNumber, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { table } from "../table.ts";
import { deploymentCells, deploymentColumns } from "./environment-text.ts";
import { failureOf, finishDeployment, type FollowOptions, hasEnded } from "./follow.ts";
import { withNoWait } from "./life.ts";
import { StepPrinter } from "./steps.ts";
import { type Target, targetOf, type TargetOptions, withEnvironment } from "./target.ts";

interface DeploymentsOptions extends TargetOptions {
  follow?: true;
  number: number;
  json?: true;
}

/** Adds `deployments`. */
export function addDeployments(program: Command, session: Session): void {
  const command = program
    .command("deployments")
    .description("list the deployments, the newest first, or show one with its output")
    .argument("[deployment]", "the id of a deployment")
    .option("-f, --follow", "wait for the end of that deployment")
    .option("--number <number>", "list so many of the newest", countingNumber, 20);
  withJson(withEnvironment(command)).action(async (id: string | undefined, options: DeploymentsOptions) => {
    if (id === undefined && options.follow === true)
      command.error("error: --follow needs the id of a deployment", { exitCode: 2 });
    const target = await targetOf(session, options);
    if (id === undefined) return await listDeployments(session, target, options);
    await showDeployment(session, target, id, options);
  });
  withExamples(command, [
    "pilvi deployments",
    "pilvi deployments depl-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f --follow",
    "pilvi deployments --json | jq -r '.data[0].attributes.status'",
  ]);
}

/** Adds `rollback`. */
export function addRollback(program: Command, session: Session): void {
  const command = program
    .command("rollback")
    .description("start an earlier release again, without building it")
    .argument("[deployment]", "the id of its deployment (default: the release before the current one)");
  withJson(withNoWait(withEnvironment(command))).action(
    async (id: string | undefined, options: TargetOptions & FollowOptions) => {
      const target = await targetOf(session, options);
      const { environments, environment } = target;
      const earlier = id ?? (await releaseBefore(target)).id;
      session.io.err(`Rolling back to ${earlier}.\n`);
      const begun = await environments.deployments(environment.id).create({ release_of: earlier });
      await finishDeployment(session, target, begun, options);
    },
  );
  withExamples(command, ["pilvi rollback", "pilvi rollback depl-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f"]);
}

/** The latest deployment that served before the current one, with another release. @throws CommandError without it. */
async function releaseBefore({ environments, environment }: Target): Promise<DeploymentResource> {
  const currentId = environment.relationships.currentDeployment.data?.id;
  let current: DeploymentResource | undefined;
  const filter = { status: "deployment.succeeded" };
  for await (const each of environments.deployments(environment.id).all({ filter })) {
    if (current !== undefined && releaseOf(each) !== releaseOf(current)) return each;
    if (each.id === currentId) current = each;
  }
  throw new CommandError("There is no earlier release. See `pilvi deployments`.");
}

/** The id of a release is that of the deployment that built it. */
function releaseOf({ id, meta }: DeploymentResource): string {
  return meta.release_of ?? id;
}

async function listDeployments(
  { io }: Session,
  { environments, environment }: Target,
  { number, json }: DeploymentsOptions,
): Promise<void> {
  const found: DeploymentResource[] = [];
  for await (const each of environments.deployments(environment.id).all()) {
    found.push(each);
    if (found.length === number) break;
  }
  if (json === true) return io.out(jsonText({ data: found }));
  if (found.length === 0) return io.out("There are no deployments yet. Begin one with: pilvi deploy\n");
  const current = environment.relationships.currentDeployment.data?.id;
  io.out(table([deploymentColumns, ...found.map((each) => deploymentCells(each, current))]));
}

async function showDeployment(
  session: Session,
  target: Target,
  id: string,
  options: DeploymentsOptions,
): Promise<void> {
  const { io } = session;
  const deployments = target.environments.deployments(target.environment.id);
  const found = await deploymentWith(() => deployments.get(id), id);
  const isJson = options.json === true;
  if (options.follow === true && !hasEnded(found.data.attributes.status))
    return await finishDeployment(session, target, found, options);
  if (isJson) return io.out(jsonText(found));
  new StepPrinter((text) => io.out(text)).show(await deployments.logs(id));
  const failure = failureOf(found);
  const { status } = found.data.attributes;
  io.out(failure !== undefined && hasEnded(status) ? `${failure.message}\n` : `${status}\n`);
}

async function deploymentWith(
  get: () => Promise<DeploymentDocument>,
  id: string,
): Promise<DeploymentDocument> {
  try {
    return await get();
  } catch (error) {
    if (error instanceof PilviError && error.status === 404)
      throw new CommandError(`There is no deployment with the id ${id}.`);
    throw error;
  }
}
