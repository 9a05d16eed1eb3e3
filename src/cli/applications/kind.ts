// The properties of applications and of their environments, for the commands that all kinds share.
import type {
  ApplicationDocument,
  EnvironmentDocument,
  EnvironmentResource,
  InstanceResource,
  SingleDocument,
} from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import type { Kind } from "../shared/kind.ts";
import { WEB } from "./process-rows.ts";

const UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

export const applicationKind: Kind<ApplicationDocument> = {
  noun: "application",
  plural: "applications",
  idPattern: new RegExp(`^app-${UUID}$`),
  aliases: ({ attributes }) => [attributes.slug],
  include: ["environments"],
  showCommand: (id) => `pilvi apps show ${id}`,
  requests({ applications }) {
    return {
      pages: () => applications.pages(),
      get: (id, { include = [] } = {}) => applications.get(id, { include }),
      delete: (id) => applications.delete(id),
    };
  },
};

/** The environments of the application with this id. */
export function environmentKind(applicationId: string): Kind<EnvironmentDocument> {
  return {
    noun: "environment",
    plural: "environments",
    idPattern: new RegExp(`^env-${UUID}$`),
    showCommand: (id) => `pilvi status --environment ${id}`,
    requests(client) {
      const environments = client.applications.environments(applicationId);
      return {
        pages: () => environments.pages(),
        get: (id) => environments.get(id),
        delete: (id) => environments.delete(id),
      };
    },
  };
}

/** The instances of an environment. */
export function instanceKind(
  environment: Pick<EnvironmentResource, "id" | "relationships">,
): Kind<SingleDocument<InstanceResource>> {
  return {
    noun: "instance",
    plural: "instances",
    idPattern: new RegExp(`^inst-${UUID}$`),
    aliases: ({ attributes }) => (attributes.type === "app" ? [WEB] : []),
    showCommand: () => "pilvi instances list",
    requests(client) {
      const { id: applicationId } = environment.relationships.application.data;
      const instances = client.applications.environments(applicationId).instances(environment.id);
      return {
        pages: () => instances.pages(),
        async get(id) {
          const document = await instances.get(id);
          if (document.data.relationships.environment.data.id === environment.id) return document;
          // The path of an instance does not name its environment, but the command did.
          throw new CommandError(`There is no instance with the id ${id} in this environment.`);
        },
        delete: (id) => instances.delete(id),
      };
    },
  };
}
