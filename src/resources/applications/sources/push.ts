// Deploys what was pushed, and reports to the person that pushed how it goes.
import type { ProtocolRequest } from "../../../api/operation/protocol.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { PushedBranch } from "../../../sources/push-reports.ts";
import type { Repository } from "../../../sources/repository.ts";
import type { KindContext } from "../../kind.ts";
import { deploy } from "../deployments/create.ts";
import type { DeploymentRow } from "../deployments/store.ts";
import { environmentsOf, type EnvironmentRow } from "../environments/store.ts";
import { recordRepository } from "../storage.ts";
import type { ApplicationRow } from "../store.ts";
import { followDeployment } from "./follow.ts";
import { passUploads } from "./passed-uploads.ts";
import { readCommit } from "./read-commit.ts";

/** A push that changed branches. */
interface Push {
  application: ApplicationRow;
  repository: Repository;
  branches: PushedBranch[];
  /** Has what was not deployed for a fault of Pilvi's own deployed later. */
  again(): void;
}

/** A deployment that a push began, or the reason why there is none. */
type Begun = { environment: EnvironmentRow; deployment: DeploymentRow } | { reason: string };

/** The branches of all environments of an application. */
export async function deployedBranches({ db }: KindContext, { id }: ApplicationRow): Promise<string[]> {
  return (await environmentsOf(db, [id])).map(({ branch }) => branch);
}

/**
 * Begins a deployment of each environment that deploys a pushed branch.
 * @returns the texts for the person that pushed, which end with the deployments.
 */
export async function deployPush(
  context: KindContext,
  asked: ProtocolRequest,
  push: Push,
): Promise<AsyncIterable<string>> {
  const { application, repository, branches } = push;
  const environments = await environmentsOf(context.db, [application.id]);
  await passUploads(repository, branches, environments);
  const begun: Begun[] = [];
  for (const branch of branches)
    begun.push(...(await deployBranch(context, asked, push, branch, environments)));
  repository
    .tidy()
    .catch((error: unknown) =>
      context.log.warn({ error, id: application.id }, "a repository could not be packed"),
    );
  await recordRepository(context, application.id);
  return progress(context, asked, begun);
}

async function deployBranch(
  context: KindContext,
  asked: ProtocolRequest,
  { repository, again }: Push,
  { name, hash }: PushedBranch,
  environments: readonly EnvironmentRow[],
): Promise<Begun[]> {
  const ofBranch = environments.filter(({ branch }) => branch === name);
  const wanted = ofBranch.filter(({ settings }) => settings.uses_push_to_deploy);
  if (wanted.length === 0) {
    const why = ofBranch.length === 0 ? "No environment has" : "No environment deploys pushes to";
    return [{ reason: `${why} the branch ${name}.` }];
  }
  const begun: Begun[] = [];
  for (const environment of wanted) {
    const commit = () => readCommit(repository, hash);
    begun.push(await begin(context, asked, environment, { commit, again }));
  }
  return begun;
}

/** One environment that cannot be deployed keeps no other from it. */
async function begin(
  context: KindContext,
  { principal, requestId }: ProtocolRequest,
  environment: EnvironmentRow,
  { commit, again }: Pick<Push, "again"> & { commit: () => ReturnType<typeof readCommit> },
): Promise<Begun> {
  try {
    const { row } = await deploy(
      context,
      { principal, requestId, params: { id: environment.id }, idempotency: undefined },
      { commit: await commit(), releaseOf: null, branch: environment.branch },
    );
    return { environment, deployment: row };
  } catch (error) {
    context.log.warn({ error, id: environment.id }, "a push could not be deployed");
    const isRefused = error instanceof PublicError;
    if (!isRefused) again();
    const reason = isRefused ? error.message : "Something went wrong here. Push again to try it anew.";
    return { reason: `${environment.name} is not deployed: ${reason}` };
  }
}

async function* progress(
  context: KindContext,
  asked: ProtocolRequest,
  begun: readonly Begun[],
): AsyncGenerator<string> {
  for (const each of begun) if ("reason" in each) yield `${each.reason}\n`;
  for (const each of begun) if ("deployment" in each) yield* followDeployment(context, asked, each);
}
