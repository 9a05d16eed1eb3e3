// How the pages of applications read environments, deployments and logs. Events of environments and deployments have
// everything of applications read again; what changes without an event is read anew in short intervals.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { client } from "../../../console/parts/client.ts";
import type { ApplicationResource, DeploymentResource, EnvironmentResource } from "../../../sdk/index.ts";
import { isOpen } from "./deployment-texts.ts";

/** Short, as somebody watches a deployment or a command that takes some seconds. */
export const WATCHED_MS = 1_000;

/** The operations on the environments of an application. */
export function environmentsOf(applicationId: string) {
  return client.applications.environments(applicationId);
}

function environmentKey(id: string): string[] {
  return ["applications", "environments", id];
}

/** An environment with its application. */
export interface EnvironmentParts {
  environment: EnvironmentResource;
  application: ApplicationResource | undefined;
}

/** Where an environment and its parts have their pages. */
export interface EnvironmentIds {
  applicationId: string;
  environmentId: string;
}

export function pathOf({ applicationId, environmentId }: EnvironmentIds): string {
  return `/applications/${applicationId}/environments/${environmentId}`;
}

/** Shows an environment as an answer has it, and reads the others that show it again. */
export function useKeepEnvironment(): (environment: EnvironmentResource) => void {
  const cache = useQueryClient();
  return (environment) => {
    cache.setQueryData<EnvironmentParts>(
      environmentKey(environment.id),
      (old) => old && { ...old, environment },
    );
    void cache.invalidateQueries({ queryKey: ["applications"] });
  };
}

export function useEnvironment({ applicationId, environmentId }: EnvironmentIds) {
  return useQuery<EnvironmentParts>({
    queryKey: environmentKey(environmentId),
    queryFn: async ({ signal }) => {
      const options = { include: ["application"], signal };
      const { data, included = [] } = await environmentsOf(applicationId).get(environmentId, options);
      return { environment: data, application: included[0] };
    },
    refetchInterval: ({ state }) => state.data?.environment.attributes.status === "deploying" && WATCHED_MS,
  });
}

/** The deployments of an environment, the newest first, page after page. */
export function useDeployments({ applicationId, environmentId }: EnvironmentIds) {
  return useInfiniteQuery({
    queryKey: ["applications", "deployments", environmentId],
    initialPageParam: 1,
    queryFn: async ({ pageParam }) =>
      await environmentsOf(applicationId).deployments(environmentId).list({ page: pageParam }),
    getNextPageParam: ({ meta }) => (meta.current_page < meta.last_page ? meta.current_page + 1 : undefined),
    refetchInterval: ({ state }) =>
      (state.data?.pages.some(({ data }) => data.some(isOpen)) ?? false) && WATCHED_MS,
  });
}

export function useDeployment({ applicationId, environmentId }: EnvironmentIds, id: string) {
  return useQuery<DeploymentResource>({
    queryKey: ["applications", "deployment", id],
    queryFn: async ({ signal }) =>
      (await environmentsOf(applicationId).deployments(environmentId).get(id, { signal })).data,
    refetchInterval: ({ state }) => state.data !== undefined && isOpen(state.data) && WATCHED_MS,
  });
}

/** @param isWatched whether the deployment is under way. Its last lines come with one more read. */
export function useDeploymentLog(
  { applicationId, environmentId }: EnvironmentIds,
  id: string,
  isWatched: boolean,
) {
  return useQuery({
    queryKey: ["applications", "deployment-log", id, isWatched],
    queryFn: async ({ signal }) =>
      await environmentsOf(applicationId).deployments(environmentId).logs(id, { signal }),
    placeholderData: (former) => former,
    refetchInterval: isWatched && WATCHED_MS,
  });
}

/** The names of the organization's members by the ids of their users. */
export function useMemberNames(): ReadonlyMap<string, string> {
  const { data = [] } = useQuery({
    queryKey: ["members"],
    queryFn: () => Array.fromAsync(client.members.all()),
  });
  return new Map(data.map(({ attributes }) => [attributes.user_id, attributes.name]));
}
