// Creates an environment: one transaction with its rows, the audit and the event.
import { ApiError, invalid, notFound } from "../../../api/jsonapi/errors.ts";
import { createOnce } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import { newId } from "../../../lib/ids.ts";
import { newKey } from "../../../lib/secrets.ts";
import type { Transaction } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { refuseDeleting } from "../../shared/desired-state.ts";
import { recordRequest, type NewEvent } from "../../shared/events/record.ts";
import { DEFAULT_SIZE } from "../instances/sizes.ts";
import { insertInstance } from "../instances/store.ts";
import { freeSlug, slugOf } from "../slug.ts";
import { lockApplication } from "../store.ts";
import { allocateEnvironment } from "./allocation.ts";
import type { NewEnvironment } from "./schema.ts";
import { servingFaults } from "./serving.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";
import { environmentsOf, findEnvironment, insertEnvironment, type EnvironmentRow } from "./store.ts";
import { firstVariables, sealVariables } from "./variables.ts";

const KIND = "environments";

/** Makes the addresses of environments hard to guess, and unique together with their names. */
const VANITY_CHARACTERS = 6;
/** A label of a host name has 63 characters at most. */
const MAX_LABEL = 63;

/** The instance that serves an environment. */
const FIRST_INSTANCE = "App";

const MAX_ENVIRONMENTS = 100;

/** Creates the requested environment, or finds the environment that the same Idempotency-Key created before. */
export async function createEnvironment(
  context: KindContext,
  request: OperationRequest<NewEnvironment, unknown, { id: string }>,
): Promise<{ row: EnvironmentRow; isReplayed: boolean }> {
  const { principal, requestId, body, params, idempotency } = request;
  const { organizationId } = principal;
  const id = newId("env");
  return await createOnce(context.db, {
    organizationId,
    kind: KIND,
    id,
    request: idempotency,
    async create(tx) {
      const application = await lockApplication(tx, organizationId, params.id);
      if (application === undefined) throw notFound("application");
      refuseDeleting(application, "application");
      const others = await environmentsOf(tx, [application.id]);
      if (others.length >= MAX_ENVIRONMENTS) {
        throw new ApiError(409, `An application has at most ${MAX_ENVIRONMENTS} environments.`);
      }
      if (others.some(({ name }) => name === body.name)) throw nameIsTaken(body.name);
      const faults = servingFaults(body);
      if (Object.keys(faults).length > 0) throw invalid(faults);
      const slugs = others.map(({ slug }) => slug);
      await insertNewEnvironment(tx, context, { id, application, ...body }, slugs);
      const event = { type: "created" as const, resource: environmentResourceOf({ id, name: body.name }) };
      const details = { ...body, application: application.id };
      await recordRequest(tx, { principal, requestId, action: "create", kind: KIND, details, event });
      await allocateEnvironment(tx, context.quotas, principal, id);
      const row = await findEnvironment(tx, organizationId, id);
      if (row === undefined) throw new Error("an insert gave no row");
      return row;
    },
    find: (tx, madeId) => findEnvironment(tx, organizationId, madeId),
  });
}

/** The customer's order of an environment, and its application. */
interface EnvironmentPlace extends NewEnvironment {
  id: string;
  application: { id: string; slug: string };
}

/** Adds the rows of a new environment. @param slugs those of the other environments of its application. */
export async function insertNewEnvironment(
  tx: Transaction,
  { vault }: KindContext,
  { id, application, name, branch, ...settings }: EnvironmentPlace,
  slugs: readonly string[] = [],
): Promise<void> {
  const slug = freeSlug(slugOf(name, "environment"), slugs);
  await insertEnvironment(tx, {
    id,
    applicationId: application.id,
    name,
    slug,
    branch,
    vanityName: vanityName(application.slug, slug),
    settings: { ...DEFAULT_SETTINGS, ...settings },
    sealedVariables: sealVariables(vault, id, firstVariables()),
    deployHook: null,
    databaseSchemaId: null,
    cacheId: null,
    websocketApplicationId: null,
  });
  await insertInstance(tx, {
    id: newId("inst"),
    environmentId: id,
    name: FIRST_INSTANCE,
    type: "app",
    settings: { size: DEFAULT_SIZE },
  });
}

/** The environment of an event. */
export function environmentResourceOf({ id, name }: { id: string; name: string }): NewEvent["resource"] {
  return { type: "environments", id, name };
}

export function nameIsTaken(name: string): ApiError {
  return invalid({ name: [`The application has an environment named ${name}.`] });
}

/** Such as `web-shop-production-8k2fqz`. */
function vanityName(application: string, environment: string): string {
  const room = MAX_LABEL - VANITY_CHARACTERS - 1;
  const names = `${application}-${environment}`.slice(0, room).replace(/-+$/, "");
  return `${names}-${newKey(VANITY_CHARACTERS)}`;
}
