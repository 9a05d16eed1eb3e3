// The properties of applications and of their environments, for the commands that all kinds share.
import type { ApplicationDocument, EnvironmentDocument } from "../../sdk/index.ts";
import type { Kind } from "../shared/kind.ts";

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
