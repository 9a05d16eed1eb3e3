// The operations of the instances of environments.
import { notFound } from "../../../api/jsonapi/errors.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import type { Principal } from "../../../api/auth/auth.ts";
import type { KindContext } from "../../kind.ts";
import { Routes } from "../../shared/routes.ts";
import { renderBackgroundProcess } from "../background-processes/render.ts";
import { backgroundProcessesWithIds } from "../background-processes/store.ts";
import { KIND } from "../create.ts";
import { includedEnvironments } from "../environments/attached.ts";
import { findEnvironment } from "../environments/store.ts";
import { environmentParams, instanceParams } from "../params.ts";
import { changeInstance, createInstance, deleteInstance } from "./change.ts";
import { renderInstance } from "./render.ts";
import {
  instanceChange,
  instanceResource,
  instanceSizeList,
  instanceTypes,
  newInstance,
  scalingTypes,
  sizeNames,
} from "./schema.ts";
import { instanceSizes } from "./sizes.ts";
import { findInstance, listInstances, type InstanceRow } from "./store.ts";

const TAG = "Instances";
const MEBIBYTE = 1024 ** 2;

/** All operations of instances. */
export function instanceOperations(context: KindContext): Operation[] {
  const { db } = context;
  const routes = new Routes<InstanceRow, typeof environmentParams, typeof instanceParams>({
    tag: TAG,
    kind: KIND,
    idNoun: "Instance",
    noun: "instance",
    shortNoun: "instance",
    phrases: { one: "an instance", many: "the instances of an environment" },
    collection: { path: "/environments/:id/instances", params: environmentParams },
    item: { path: "/instances/:id", params: instanceParams, idOf: ({ id }) => id },
    schema: instanceResource,
    includes: ["environment", "backgroundProcesses"],
    find: (organizationId, { id }) => findInstance(db, organizationId, id),
    render: renderInstance,
    related: (wanted, rows, { principal }) => related(context, wanted, rows, principal),
  });
  return [
    routes.list({
      description: "The instances of an environment in pages. The instance `App` serves its requests.",
      isFilteredByName: true,
      filters: { type: instanceTypes, size: sizeNames, scaling_type: scalingTypes },
      async list({ organizationId, page, filter }, { id }) {
        if ((await findEnvironment(db, organizationId, id)) === undefined) throw notFound("environment");
        return await listInstances(db, id, filter, page);
      },
    }),
    sizesOperation(),
    routes.create({
      description:
        "Adds an instance of the type `service`, which runs background processes with a size of their own, and answers no requests.",
      successText: "The instance.",
      body: newInstance,
      create: (request) => createInstance(context, request),
    }),
    routes.show({ description: "One instance." }),
    routes.change({
      description:
        "Another size starts the release anew, beside the former process, which serves until then. More replicas share the requests out; fewer end the newest, once their requests may have ended.",
      body: instanceChange,
      change: (request) => changeInstance(context, request),
    }),
    routes.delete({
      description: "Deletes an instance of the type `service` with its background processes.",
      canRefuse: true,
      delete: (request) => deleteInstance(context, request),
    }),
  ];
}

function sizesOperation(): Operation {
  const general = instanceSizes.map(({ name, label, cpuType, cpuClass, cpus, memoryBytes }) => ({
    name,
    label,
    description: `${cpus} vCPU · ${memoryBytes / MEBIBYTE} MiB RAM`,
    cpu_type: cpuType,
    compute_class: `${cpuType}.${cpuClass}`,
    cpu_count: cpus,
    memory_mib: memoryBytes / MEBIBYTE,
  }));
  return operation({
    method: "GET",
    path: "/instances/sizes",
    operationId: "listInstanceSizes",
    tag: TAG,
    summary: "List the sizes of instances",
    description: "The sizes that an instance can have.",
    ability: `${KIND}:read`,
    success: {
      status: 200,
      description: "All sizes.",
      schema: instanceSizeList,
      contentType: "application/json",
    },
    handle: async () => ({ document: { data: { general } } }),
  });
}

/** The environments and the background processes of instances. */
async function* related(
  context: KindContext,
  wanted: readonly string[],
  rows: InstanceRow[],
  principal: Principal,
): AsyncGenerator<object, void> {
  const environmentIds = wanted.includes("environment") ? rows.map(({ environmentId }) => environmentId) : [];
  const processIds = wanted.includes("backgroundProcesses")
    ? rows.flatMap(({ backgroundProcessIds }) => backgroundProcessIds)
    : [];
  yield* includedEnvironments(context, principal, environmentIds);
  for (const each of await backgroundProcessesWithIds(context.db, processIds))
    yield renderBackgroundProcess(each, context, principal);
}
