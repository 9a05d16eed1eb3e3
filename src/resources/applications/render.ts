// Renders an application.
import type { ApplicationResource } from "./schema.ts";
import type { ApplicationRow, Repository } from "./store.ts";

/** The resource object. */
export function renderApplication(application: ApplicationRow): ApplicationResource {
  const { id, repository, defaultEnvironmentId } = application;
  return {
    id,
    type: "applications",
    attributes: {
      name: application.name,
      slug: application.slug,
      region: application.region,
      slack_channel: application.slackChannel,
      avatar_url: null,
      created_at: application.createdAt,
      repository: repository && {
        full_name: fullNameOf(repository),
        default_branch: repository.defaultBranch,
      },
    },
    relationships: {
      organization: { data: { id: application.organizationId, type: "organizations" } },
      environments: { data: application.environmentIds.map((each) => ({ id: each, type: "environments" })) },
      defaultEnvironment: {
        data: defaultEnvironmentId === null ? null : { id: defaultEnvironmentId, type: "environments" },
      },
    },
    meta: {
      status: application.status,
      repository_url: repository?.url ?? null,
      root_directory: application.rootDirectory,
      repository_username: application.repositoryLogin?.username ?? null,
      deploy_key: application.deployKey?.publicKey ?? null,
    },
  };
}

/** The last two segments of an address, such as `shop/web`. */
function fullNameOf({ url }: Repository): string {
  const segments = url.replace(/\.git\/?$/, "").split(/[/:]/);
  return segments
    .filter((segment) => segment !== "")
    .slice(-2)
    .join("/");
}
