// The operations of applications.
import type { Operation } from "../../api/operation/operation.ts";
import type { KindContext } from "../kind.ts";
import { regions } from "../shared/regions.ts";
import { Routes } from "../shared/routes.ts";
import { changeApplication } from "./change.ts";
import { createApplication, KIND } from "./create.ts";
import { deleteApplication } from "./delete.ts";
import { includedEnvironments } from "./environments/attached.ts";
import { environmentResource } from "./environments/schema.ts";
import { applicationParams } from "./params.ts";
import { renderApplication } from "./render.ts";
import { applicationChange, applicationResource, applicationStatuses, newApplication } from "./schema.ts";
import { rotateDeployKey } from "./rotate.ts";
import { findApplication, listApplications, type ApplicationRow } from "./store.ts";

type ApplicationRoutes = Routes<ApplicationRow, never, typeof applicationParams>;

/** All operations of applications. */
export function applicationOperations(context: KindContext): Operation[] {
  const { db } = context;
  const routes: ApplicationRoutes = new Routes({
    tag: "Applications",
    kind: KIND,
    idNoun: "Application",
    noun: "application",
    shortNoun: "application",
    phrases: { one: "an application", many: "applications" },
    collection: { path: "/applications" },
    item: { path: "/applications/:id", params: applicationParams, idOf: ({ id }) => id },
    schema: applicationResource,
    relatedSchema: environmentResource,
    includes: ["environments", "defaultEnvironment"],
    find: (organizationId, { id }) => findApplication(db, organizationId, id),
    render: renderApplication,
    related(wanted, rows, { principal }) {
      const ids = rows.flatMap(({ environmentIds, defaultEnvironmentId }) =>
        wanted.includes("environments") ? environmentIds : (defaultEnvironmentId ?? []),
      );
      return includedEnvironments(context, principal, ids);
    },
  });
  return [
    routes.create({
      description:
        "Makes the application with an environment `production`, which waits for its first deployment. A repository is fetched at each deployment; without it, commits are pushed or uploaded.",
      successText: "The application.",
      body: newApplication,
      isIncluding: true,
      create: (request) => createApplication(context, request),
    }),
    routes.list({
      description: "The organization's applications in pages, the oldest first.",
      filters: { type: ["application"], region: regions, status: applicationStatuses },
      isFilteredByName: true,
      isFilteredBySlug: true,
      list: (search) => listApplications(db, search),
    }),
    routes.show({ description: "One application." }),
    routes.change({
      description:
        "Members that are left out stay as they are. The region cannot be changed. Another repository is fetched at the next deployment.",
      body: applicationChange,
      change: (request) => changeApplication(context, request),
    }),
    rotateOperation(context, routes),
    routes.delete({
      description:
        "Answers at once, and deletes all its environments. The application is gone when nothing of them is left.",
      delete: (request) => deleteApplication(context, request),
    }),
  ];
}

function rotateOperation(context: KindContext, routes: ApplicationRoutes): Operation {
  return routes.action({
    verb: "rotate-deploy-key",
    summary: "Rotate the deploy key of an application",
    description:
      "The former key is gone at once: add the new one at the host of the repository. The host key of the next fetch is believed, as at a first fetch.",
    successText: "The application, with the public key in `meta.deploy_key`.",
    isIdempotent: true,
    canConflict: true,
    act: (request) => rotateDeployKey(context, request),
  });
}
