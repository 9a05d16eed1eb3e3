// The operations of environments.
import { notFound } from "../../../api/jsonapi/errors.ts";
import type { Page } from "../../../api/jsonapi/pagination.ts";
import type { Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { Routes } from "../../shared/routes.ts";
import { KIND } from "../create.ts";
import { deleteEnvironment } from "../delete.ts";
import { applicationParams, environmentParams } from "../params.ts";
import { findApplication } from "../store.ts";
import { changeEnvironment, deleteVariables, insertVariables } from "./change.ts";
import { createEnvironment } from "./create.ts";
import { lifeOperations, type EnvironmentRoutes } from "./life-routes.ts";
import { ENVIRONMENT_INCLUDES, relatedOf } from "./related.ts";
import { renderEnvironment, statusOf } from "./render.ts";
import { environmentChange, environmentResource, environmentStatuses, newEnvironment } from "./schema.ts";
import { environmentsOf, findEnvironment, listEnvironments, type EnvironmentRow } from "./store.ts";
import { variablesDeletion, variablesInsert } from "./variable-schema.ts";

/** All operations of environments. */
export function environmentOperations(context: KindContext): Operation[] {
  const { db } = context;
  const routes: EnvironmentRoutes = new Routes({
    tag: "Environments",
    kind: KIND,
    idNoun: "Environment",
    noun: "environment",
    shortNoun: "environment",
    phrases: { one: "an environment", many: "the environments of an application" },
    collection: { path: "/applications/:id/environments", params: applicationParams },
    item: { path: "/environments/:id", params: environmentParams, idOf: ({ id }) => id },
    schema: environmentResource,
    includes: ENVIRONMENT_INCLUDES,
    statuses: environmentStatuses,
    statusOf: (row) => statusOf(row, context),
    find: (organizationId, { id }) => findEnvironment(db, organizationId, id),
    render: (row, principal) => renderEnvironment(row, context, principal),
    related: (wanted, rows, { principal }) => relatedOf(context, wanted, rows, principal),
  });
  return [
    routes.create({
      description: "The environment waits for its first deployment.",
      successText: "The environment.",
      body: newEnvironment,
      create: (request) => createEnvironment(context, request),
    }),
    routes.list({
      description: "The application's environments in pages, the oldest first.",
      isFilteredByName: true,
      isFilteredBySlug: true,
      filters: { status: environmentStatuses },
      async list({ organizationId, page, filter }, { id }) {
        if ((await findApplication(db, organizationId, id)) === undefined) throw notFound("application");
        const { names = [], slugs = [], statuses = [] } = filter;
        return statuses.length === 0
          ? await listEnvironments(db, { applicationId: id, names, slugs, page })
          : pageOf(await shownAs(context, id, { names, slugs, statuses }), page);
      },
    }),
    routes.show({ description: "One environment, at once or, with `wait`, when it has reached a status." }),
    routes.change({
      description:
        "Members that are left out stay as they are. What a build needs takes effect at the next deployment.",
      body: environmentChange,
      change: (request) => changeEnvironment(context, request),
    }),
    ...lifeOperations(context, routes),
    insertOperation(routes, context),
    deleteOperation(routes, context),
    routes.delete({
      description: "Answers at once. The environment is `deleting` until nothing of it is left.",
      canRefuse: true,
      delete: (request) => deleteEnvironment(context, request),
    }),
  ];
}

function insertOperation(routes: EnvironmentRoutes, context: KindContext): Operation {
  return routes.action({
    verb: "variables",
    summary: "Add and change variables of an environment",
    description: "A running release gets them at its next start.",
    successText: "The environment with its variables.",
    body: variablesInsert,
    canConflict: true,
    act: async (request) => ({ row: await insertVariables(context, request), isReplayed: false }),
  });
}

function deleteOperation(routes: EnvironmentRoutes, context: KindContext): Operation {
  return routes.action({
    verb: "variables/delete",
    summary: "Delete variables of an environment",
    description: "Deletes all of them or, when one is missing, none.",
    successText: "The environment without these variables.",
    body: variablesDeletion,
    canConflict: true,
    act: async (request) => ({ row: await deleteVariables(context, request), isReplayed: false }),
  });
}

/** The environments by the status that answers show: the host alone knows which of them sleep. There are few. */
async function shownAs(
  context: KindContext,
  applicationId: string,
  { names, slugs, statuses }: Record<"names" | "slugs" | "statuses", readonly string[]>,
): Promise<EnvironmentRow[]> {
  const rows = await environmentsOf(context.db, [applicationId]);
  return rows.filter(
    (row) =>
      statuses.includes(statusOf(row, context)) &&
      (names.length === 0 || names.includes(row.name)) &&
      (slugs.length === 0 || slugs.includes(row.slug)),
  );
}

function pageOf(rows: EnvironmentRow[], { number, size }: Page): { rows: EnvironmentRow[]; total: number } {
  return { rows: rows.slice((number - 1) * size, number * size), total: rows.length };
}
