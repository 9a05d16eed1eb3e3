// The operations of background processes.
import { notFound } from "../../../api/jsonapi/errors.ts";
import type { Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { Routes } from "../../shared/routes.ts";
import { KIND } from "../create.ts";
import { renderInstance } from "../instances/render.ts";
import { instanceResource } from "../instances/schema.ts";
import { findInstance } from "../instances/store.ts";
import { backgroundProcessParams, instanceParams } from "../params.ts";
import { changeBackgroundProcess, createBackgroundProcess, deleteBackgroundProcess } from "./change.ts";
import { renderBackgroundProcess } from "./render.ts";
import { backgroundProcessChange, backgroundProcessResource, newBackgroundProcess } from "./schema.ts";
import { findBackgroundProcess, listBackgroundProcesses, type BackgroundProcessRow } from "./store.ts";

/** All operations of background processes. */
export function backgroundProcessOperations(context: KindContext): Operation[] {
  const { db } = context;
  const routes = new Routes<BackgroundProcessRow, typeof instanceParams, typeof backgroundProcessParams>({
    tag: "Background processes",
    kind: KIND,
    idNoun: "BackgroundProcess",
    noun: "background process",
    shortNoun: "process",
    phrases: { one: "a background process", many: "the background processes of an instance" },
    collection: { path: "/instances/:id/background-processes", params: instanceParams },
    item: { path: "/background-processes/:id", params: backgroundProcessParams, idOf: ({ id }) => id },
    schema: backgroundProcessResource,
    relatedSchema: instanceResource,
    includes: ["instance"],
    find: (organizationId, { id }) => findBackgroundProcess(db, organizationId, id),
    render: (row, principal) => renderBackgroundProcess(row, context, principal),
    async related(_wanted, rows, { principal }) {
      const ids = [...new Set(rows.map(({ instanceId }) => instanceId))];
      const found = await Promise.all(ids.map((id) => findInstance(db, principal.organizationId, id)));
      return found.flatMap((instance) => (instance === undefined ? [] : [renderInstance(instance)]));
    },
  });
  return [
    routes.create({
      description:
        "Runs a command of the release beside each replica of the instance, with the variables of the application. It is started again when it ends, sleeps and wakes with the environment, and is replaced after a new release serves.",
      successText: "The background process.",
      body: newBackgroundProcess,
      create: (request) => createBackgroundProcess(context, request),
    }),
    routes.list({
      description: "The background processes of an instance in pages, those of the `Procfile` among them.",
      async list({ organizationId, page }, { id }) {
        if ((await findInstance(db, organizationId, id)) === undefined) throw notFound("instance");
        return await listBackgroundProcesses(db, id, page);
      },
    }),
    routes.show({ description: "One background process." }),
    routes.change({
      description:
        "Another command starts its processes anew. Of a process of the `Procfile`, the number alone can be changed.",
      body: backgroundProcessChange,
      change: (request) => changeBackgroundProcess(context, request),
    }),
    routes.delete({
      description:
        "Ends its processes. A process of the `Procfile` goes with its line at the next deployment.",
      canRefuse: true,
      delete: (request) => deleteBackgroundProcess(context, request),
    }),
  ];
}
