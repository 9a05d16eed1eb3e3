// The operations on deployments.
import type {
  DeploymentLog,
  DeploymentResource,
  DeploymentStatus,
  EnvironmentResource,
  NewDeployment,
} from "../resources/applications/schema.ts";
import { Collection } from "./collection.ts";
import type { PageDocument, SingleDocument } from "./documents.ts";

export type DeploymentDocument = SingleDocument<DeploymentResource, EnvironmentResource>;
export type DeploymentPage = PageDocument<DeploymentResource, EnvironmentResource>;

/** The types of the deployment collection. */
interface DeploymentKind {
  /** The commit to build, or the deployment whose release is started again. */
  body: NewDeployment;
  resource: DeploymentResource;
  included: EnvironmentResource;
  status: DeploymentStatus;
  filter: "status" | "branch_name" | "commit_hash";
}

/** The deployments of an environment, the newest first. */
export class Deployments extends Collection<DeploymentKind> {
  /** Reads the steps of a deployment, with their output so far. */
  async logs(id: string, options: { signal?: AbortSignal } = {}): Promise<DeploymentLog> {
    const { signal } = options;
    return await this.connection.send({ method: "GET", path: `${this.pathOf(id)}/logs`, signal });
  }

  /** The path of a deployment does not depend on its environment. */
  protected override pathOf(id: string): string {
    return `/deployments/${encodeURIComponent(id)}`;
  }
}
