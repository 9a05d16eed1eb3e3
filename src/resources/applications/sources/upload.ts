// Takes uploaded sources: for a deployment, as a commit beside the environment's branch, or for a plan alone.
import { z } from "zod";
import { ApiError, apiErrorOf, invalid, notFound } from "../../../api/jsonapi/errors.ts";
import { refuseRevoked } from "../../../api/auth/auth.ts";
import { replayedOr } from "../../../api/operation/idempotency.ts";
import type { OperationRequest, UploadBody } from "../../../api/operation/operation.ts";
import type { Plan } from "../../../contracts/plan.ts";
import type { Repository } from "../../../sources/repository.ts";
import { newUploadRef } from "../../../sources/uploads.ts";
import type { KindContext } from "../../kind.ts";
import { refuseFullStorage, storageExcess } from "../../shared/quotas.ts";
import type { Made } from "../../shared/routed-resource.ts";
import { deploy, lockDeployable } from "../deployments/create.ts";
import { findDeployment, type Commit, type DeploymentRow } from "../deployments/store.ts";
import { findEnvironment, type EnvironmentRow } from "../environments/store.ts";
import { findApplication, loadApplication, type ApplicationRow } from "../store.ts";
import { recordRepository } from "../storage.ts";
import { readCommit } from "./read-commit.ts";
import { fetchedFrom } from "./fetch.ts";
import { withSourceFaults } from "./faults.ts";
import { dropWhenFull, makeRoom, tidyUploads } from "./old-uploads.ts";
import { planIn, planOfNew } from "./plan.ts";
import type { SourceSlots } from "./slots.ts";

/** The body of an upload. */
export const archiveBody: UploadBody = {
  description: "A tar of the source, plain or packed with gzip. Its files are all files of the deployment.",
  contentTypes: ["application/x-tar", "application/gzip"],
};

const person = z.string().trim().min(1).max(200);

/** What the commit of an upload says about itself. */
export const uploadQuery = z.object({
  message: z
    .string()
    .max(10_000)
    .optional()
    .meta({ description: "The message of the commit.", example: "Fix the cart" }),
  author_name: person.optional().meta({ description: "The author of the commit.", example: "Ada Lovelace" }),
  author_email: person
    .optional()
    .meta({ description: "The address of the author.", example: "ada@example.com" }),
});

type AnyUploadRequest = OperationRequest<unknown, z.output<typeof uploadQuery>, unknown>;
type UploadRequest = OperationRequest<unknown, z.output<typeof uploadQuery>, { id: string }>;

/** The ref of a repository that has nothing but the upload. */
const ONLY_REF = "refs/pilvi/upload";

/**
 * Makes a commit of the upload, and deploys it.
 * @throws ApiError 401, 404, 409, 413, 422, 429 or 503; nothing of a refused upload is left.
 */
export async function deployUpload(
  context: KindContext,
  slots: SourceSlots,
  request: UploadRequest,
): Promise<Made<DeploymentRow>> {
  return await replayedOr(context.db, request, findDeployment, () => deployArchive(context, slots, request));
}

async function deployArchive(
  context: KindContext,
  slots: SourceSlots,
  request: UploadRequest,
): Promise<Made<DeploymentRow>> {
  const { db } = context;
  const { organizationId, familyId } = request.principal;
  const environment = await deployable(context, request);
  const application = await uploadable(context, organizationId, environment);
  const { repository, ref, commit } = await slots.run(familyId, () =>
    withSourceFaults(() => commitUpload(context, request, environment)),
  );
  try {
    const made = await deploy(context, request, { commit, releaseOf: null, branch: environment.branch });
    tidyUploads(context, repository, application.id);
    return made;
  } catch (error) {
    // After any other failure, the deployment may have begun.
    if (error instanceof ApiError) await dropRefused(context, repository, ref);
    // The application may have been deleted during the upload, which then has made its repository anew.
    if ((await loadApplication(db, application.id)) === undefined)
      await context.repositories.remove(application.id);
    throw error;
  }
}

/** What would be refused after the upload is refused before it. @throws ApiError 404, 409 or 422. */
async function deployable(
  context: KindContext,
  { principal, params: { id } }: UploadRequest,
): Promise<EnvironmentRow> {
  const { db, quotas, repositories } = context;
  const { organizationId } = principal;
  const found = await findEnvironment(db, organizationId, id);
  if (found !== undefined && (await storageExcess(db, quotas, organizationId)) !== null)
    makeRoom(context, await repositories.of(found.applicationId), found.applicationId);
  return await db.begin(async (tx) => {
    await refuseFullStorage(tx, quotas, principal, "source");
    return await lockDeployable(tx, organizationId, id);
  });
}

/** The plan of an upload, of which nothing is kept. @throws ApiError as `deployUpload`. */
export async function planUpload(
  context: KindContext,
  slots: SourceSlots,
  request: UploadRequest,
): Promise<{ hash: string; plan: Plan }> {
  const { environment, application } = await findParts(
    context,
    request.principal.organizationId,
    request.params.id,
  );
  return await planScratch(context, slots, request, (repository, hash) =>
    planIn(repository, context, environment, application, hash),
  );
}

/** The plan that an upload would have in a new application; none is made. @throws ApiError 413, 422, 429 or 503. */
export async function planNewUpload(
  context: KindContext,
  slots: SourceSlots,
  request: AnyUploadRequest,
): Promise<{ hash: string; plan: Plan }> {
  return await planScratch(context, slots, request, (repository, hash) =>
    planOfNew(repository, context, hash),
  );
}

async function planScratch(
  context: KindContext,
  slots: SourceSlots,
  request: AnyUploadRequest,
  plan: (repository: Repository, hash: string) => Promise<Plan>,
): Promise<{ hash: string; plan: Plan }> {
  const { db, quotas, repositories } = context;
  const { principal, signal } = request;
  const archive = archiveOf(request);
  await db.begin((tx) => refuseFullStorage(tx, quotas, principal, "source"));
  return await slots.run(principal.familyId, () =>
    withSourceFaults(async () => {
      await repositories.refuseFullDisk();
      return await repositories.withScratch(async (repository) => {
        const hash = await repository.commitUpload(archive, ONLY_REF, textOf(request), { signal });
        return { hash, plan: await plan(repository, hash) };
      });
    }),
  );
}

/** An environment with its application. @throws ApiError 404 */
export async function findParts(
  { db }: KindContext,
  organizationId: string,
  id: string,
): Promise<{ environment: EnvironmentRow; application: ApplicationRow }> {
  const environment = await findEnvironment(db, organizationId, id);
  const application = environment && (await findApplication(db, organizationId, environment.applicationId));
  if (environment === undefined || application === undefined) throw notFound("environment");
  return { environment, application };
}

/** @throws ApiError 409 for an application whose commits come from elsewhere. */
async function uploadable(
  { db }: KindContext,
  organizationId: string,
  { applicationId }: EnvironmentRow,
): Promise<ApplicationRow> {
  const application = await findApplication(db, organizationId, applicationId);
  if (application === undefined) throw notFound("environment");
  if (application.repository !== null) throw new ApiError(409, fetchedFrom(application.repository));
  return application;
}

async function commitUpload(
  context: KindContext,
  request: UploadRequest,
  { id, applicationId, branch }: EnvironmentRow,
): Promise<{ repository: Repository; ref: string; commit: Commit }> {
  const { db, repositories } = context;
  const archive = archiveOf(request);
  await repositories.refuseFullDisk();
  const repository = await repositories.of(applicationId);
  await dropWhenFull(context, repository, applicationId);
  const former = (await repository.uploads(id)).at(-1);
  const ref = newUploadRef(id, await repository.resolve(`refs/heads/${branch}`), former);
  const hash = await repository.commitUpload(archive, ref, textOf(request), {
    signal: request.signal,
    // An upload may take long enough for its token to be revoked meanwhile.
    confirm: () =>
      refuseRevoked(db, request.principal).catch((error: unknown) => {
        throw apiErrorOf(error);
      }),
  });
  try {
    const [commit] = await Promise.all([
      readCommit(repository, hash),
      recordRepository(context, applicationId),
    ]);
    return { repository, ref, commit };
  } catch (error) {
    await dropRefused(context, repository, ref);
    throw error;
  }
}

/** An upload that was refused must not pass for the newest. */
async function dropRefused({ log }: KindContext, repository: Repository, ref: string): Promise<void> {
  await repository
    .changeUploads([{ ref }])
    .catch((error: unknown) => log.warn({ error, ref }, "a refused upload could not be dropped"));
}

function archiveOf({ upload }: AnyUploadRequest): ReadableStream<Uint8Array> {
  if (upload === null) throw invalid({ source: ["The body has no archive."] });
  return upload;
}

function textOf({ query }: AnyUploadRequest) {
  const { message = "Upload", author_name: name = "Pilvi", author_email: email = "pilvi@localhost" } = query;
  return { message, author: { name, email }, at: new Date() };
}
