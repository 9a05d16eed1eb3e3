// The resources that answers about environments include.
import type { Principal } from "../../../api/auth/auth.ts";
import type { KindContext, ResourceObject } from "../../kind.ts";
import { includedDeployments } from "../deployments/included.ts";
import { renderInstance } from "../instances/render.ts";
import { instancesWithIds } from "../instances/store.ts";
import { renderApplication } from "../render.ts";
import { findApplication } from "../store.ts";
import type { EnvironmentRow } from "./store.ts";

type Related = (
  context: KindContext,
  rows: EnvironmentRow[],
  principal: Principal,
) => AsyncIterable<ResourceObject> | Promise<Iterable<ResourceObject>>;

/** By the name of a relationship. No environment has domains, buckets or secrets yet. */
const RELATED = {
  application: async ({ db }, rows, { organizationId }) => {
    const ids = present(rows.map(({ applicationId }) => applicationId));
    const found = await Promise.all(ids.map((id) => findApplication(db, organizationId, id)));
    return found.flatMap((row) => (row === undefined ? [] : [renderApplication(row)]));
  },
  branch: async (_context, rows) =>
    present(rows.map(({ branch }) => branch)).map((id) => ({
      id,
      type: "branches",
      attributes: { name: id },
    })),
  deployments: ({ db }, rows) =>
    includedDeployments(
      db,
      rows.flatMap(({ deploymentIds }) => deploymentIds),
    ),
  currentDeployment: ({ db }, rows) =>
    includedDeployments(db, present(rows.map(({ currentDeploymentId }) => currentDeploymentId))),
  primaryDomain: async () => [],
  instances: async ({ db }, rows) =>
    (
      await instancesWithIds(
        db,
        rows.flatMap(({ processGroupIds }) => processGroupIds),
      )
    ).map(renderInstance),
  database: async (context, rows, principal) =>
    await context.attached("databases", principal, present(rows.map(({ databaseSchemaId: id }) => id))),
  cache: async (context, rows, principal) =>
    await context.attached("caches", principal, present(rows.map(({ cacheId: id }) => id))),
  buckets: async () => [],
  websocketApplication: async (context, rows, principal) =>
    await context.attached(
      "websockets",
      principal,
      present(rows.map(({ websocketApplicationId: id }) => id)),
    ),
  secrets: async () => [],
} satisfies Record<string, Related>;

type Relationship = keyof typeof RELATED;

/** The relationships that a client may include. */
export const ENVIRONMENT_INCLUDES = Object.keys(RELATED) as Relationship[];

/** The related resources of environments, each once. */
export async function* relatedOf(
  context: KindContext,
  wanted: readonly string[],
  rows: EnvironmentRow[],
  principal: Principal,
): AsyncGenerator<object, void> {
  // The current deployment is one of the deployments, unless there were many since.
  const given = new Set<string>();
  for (const name of ENVIRONMENT_INCLUDES.filter((each) => wanted.includes(each)))
    for await (const resource of await RELATED[name](context, rows, principal)) {
      const key = `${resource.type} ${resource.id}`;
      if (given.has(key)) continue;
      given.add(key);
      yield resource;
    }
}

/** The ids that are there, each once. */
function present(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.filter((id) => id !== null))];
}
