// Creates an application with its first environment: one transaction with all rows, the audit and the events.
import { invalid } from "../../api/jsonapi/errors.ts";
import { createOnce } from "../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../api/operation/operation.ts";
import { newId } from "../../lib/ids.ts";
import type { KindContext } from "../kind.ts";
import { recordRequest, type NewEvent } from "../shared/events/record.ts";
import { allocateEnvironment } from "./environments/allocation.ts";
import { insertNewEnvironment } from "./environments/create.ts";
import { FIRST_ENVIRONMENT } from "./environments/settings.ts";
import type { NewApplication } from "./schema.ts";
import { checkRepository, deployKeyFor } from "./sources/deploy-key.ts";
import { loginFor, withoutPassword } from "./sources/repository-login.ts";
import { freeSlug, slugOf } from "./slug.ts";
import {
  countApplications,
  lockNames,
  findApplication,
  insertApplication,
  slugsLike,
  type ApplicationRow,
  type Repository,
} from "./store.ts";

export const KIND = "applications";

/** The branch of an application that has none to name, and of its first environment. */
const DEFAULT_BRANCH = "main";

/** How many applications an organization may have. */
const MAX_APPLICATIONS = 1_000;

/**
 * Creates the requested application, or finds the application that the same Idempotency-Key created before.
 * @throws ApiError 422
 */
export async function createApplication(
  context: KindContext,
  { principal, requestId, body, idempotency }: OperationRequest<NewApplication>,
): Promise<{ row: ApplicationRow; isReplayed: boolean }> {
  const { organizationId } = principal;
  const id = newId("app");
  const repository = body.repository === undefined ? null : repositoryAt(body.repository);
  const repositoryLogin = loginFor(context, { id, repository, former: null }, body);
  return await createOnce(context.db, {
    organizationId,
    kind: KIND,
    id,
    request: idempotency,
    async create(tx) {
      await lockNames(tx, organizationId);
      if ((await countApplications(tx, organizationId)) >= MAX_APPLICATIONS)
        throw invalid({
          name: [`The organization has ${MAX_APPLICATIONS} applications, and may not have more.`],
        });
      const slug = slugOf(body.name, "application");
      const environmentId = newId("env");
      const application = {
        id,
        organizationId,
        hostId: context.hosts.forNew().id,
        name: body.name,
        slug: freeSlug(slug, await slugsLike(tx, organizationId, slug)),
        region: body.region,
        repository,
        deployKey: deployKeyFor(context.vault, id, repository, null),
        repositoryLogin,
        rootDirectory: body.root_directory ?? null,
        slackChannel: null,
        defaultEnvironmentId: environmentId,
      };
      await insertApplication(tx, application);
      const environment = { name: FIRST_ENVIRONMENT, branch: DEFAULT_BRANCH };
      await insertNewEnvironment(tx, context, { id: environmentId, application, ...environment });
      const event = { type: "created" as const, resource: resourceOf(application) };
      const about = { kind: KIND, details: withoutPassword(body) };
      await recordRequest(tx, { principal, requestId, action: "create", ...about, event });
      await allocateEnvironment(tx, context.quotas, principal, environmentId);
      const row = await findApplication(tx, organizationId, id);
      if (row === undefined) throw new Error("an insert gave no row");
      return row;
    },
    find: (tx, madeId) => findApplication(tx, organizationId, madeId),
  });
}

/** The application of an event. */
export function resourceOf({ id, name }: { id: string; name: string }): NewEvent["resource"] {
  return { type: "applications", id, name };
}

/**
 * The repository at an address. Its server names the default branch at the first deployment.
 * @throws ApiError 422 when nothing can be fetched from such an address.
 */
export function repositoryAt(url: string): Repository {
  checkRepository(url);
  return { url, defaultBranch: DEFAULT_BRANCH };
}
