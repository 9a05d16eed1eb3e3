// Changes an application: one transaction with the row, the audit and the event.
import { invalid, notFound } from "../../api/jsonapi/errors.ts";
import type { OperationRequest } from "../../api/operation/operation.ts";
import type { Transaction } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { refuseDeleting } from "../shared/desired-state.ts";
import { changed, recordRequest } from "../shared/events/record.ts";
import { KIND, repositoryAt, resourceOf } from "./create.ts";
import type { ApplicationChange } from "./schema.ts";
import { environmentsOf } from "./environments/store.ts";
import { deployKeyFor } from "./sources/deploy-key.ts";
import { loginFor, withoutPassword } from "./sources/repository-login.ts";
import {
  findApplication,
  lockApplication,
  lockNames,
  slugsLike,
  updateApplication,
  type ApplicationRow,
  type ApplicationSettings,
} from "./store.ts";

/**
 * Writes the change.
 * @throws ApiError 404, 409 when the application is being deleted, or 422.
 */
export async function changeApplication(
  context: KindContext,
  { principal, requestId, body, params }: OperationRequest<ApplicationChange, unknown, { id: string }>,
): Promise<ApplicationRow> {
  const { organizationId } = principal;
  return await context.db.begin(async (tx) => {
    if (body.slug !== undefined) await lockNames(tx, organizationId);
    const application = await lockApplication(tx, organizationId, params.id);
    if (application === undefined) throw notFound("application");
    refuseDeleting(application, "application");
    const settings = settingsOf(context, body, application);
    await check(tx, application, settings);
    await updateApplication(tx, application.id, settings);
    const event = changed(resourceOf({ ...application, ...settings }), body);
    const about = { kind: KIND, details: withoutPassword(body) };
    await recordRequest(tx, { principal, requestId, action: "update", ...about, event });
    return (await findApplication(tx, organizationId, application.id)) ?? application;
  });
}

async function check(tx: Transaction, former: ApplicationRow, settings: ApplicationSettings): Promise<void> {
  const { slug, defaultEnvironmentId } = settings;
  if (slug !== former.slug && (await slugsLike(tx, former.organizationId, slug)).includes(slug)) {
    throw invalid({ slug: [`The organization has an application with the slug ${slug}.`] });
  }
  // The default of before stays, since other changes are no reason to ask for another.
  if (defaultEnvironmentId === null || defaultEnvironmentId === former.defaultEnvironmentId) return;
  const fault = await defaultFault(tx, former, defaultEnvironmentId);
  if (fault !== null) throw invalid({ default_environment_id: [fault] });
}

/** Why an environment cannot become the default; null when it can. */
async function defaultFault(tx: Transaction, { id }: ApplicationRow, wanted: string): Promise<string | null> {
  const environment = (await environmentsOf(tx, [id])).find((each) => each.id === wanted);
  if (environment === undefined) return "The application has no environment with this id.";
  // The default could not be deleted, but that deletion goes on.
  return environment.status === "deleting" ? "The environment is being deleted." : null;
}

/** A member that is left out stays; null takes the value away. */
function settingsOf(
  context: KindContext,
  change: ApplicationChange,
  former: ApplicationRow,
): ApplicationSettings {
  const { repository: url, root_directory: rootDirectory, slack_channel: slackChannel } = change;
  const isSameRepository = url === undefined || url === former.repository?.url;
  const repository = isSameRepository ? former.repository : url === null ? null : repositoryAt(url);
  const { id } = former;
  const formerLogin = isSameRepository ? former.repositoryLogin : null;
  return {
    name: change.name ?? former.name,
    slug: change.slug ?? former.slug,
    repository,
    deployKey: deployKeyFor(context.vault, id, repository, former.deployKey),
    repositoryLogin: loginFor(context, { id, repository, former: formerLogin }, change),
    rootDirectory: rootDirectory === undefined ? former.rootDirectory : rootDirectory,
    slackChannel: slackChannel === undefined ? former.slackChannel : slackChannel,
    defaultEnvironmentId: change.default_environment_id ?? former.defaultEnvironmentId,
  };
}
