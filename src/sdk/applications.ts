// The operations on applications.
import type {
  ApplicationChange,
  ApplicationResource,
  ApplicationStatus,
  EnvironmentResource,
  InstanceSizeList,
  NewApplicationBody,
} from "../resources/applications/schema.ts";
import { Collection } from "./collection.ts";
import type { Connection } from "./connection.ts";
import type { PageDocument, SingleDocument } from "./documents.ts";
import { Environments } from "./environments.ts";
import { newIdempotencyKey } from "./idempotency-key.ts";
import { type NewUpload, type PlanDocument, sendUpload } from "./uploads.ts";

/** The description of a new application. */
export type NewApplication = NewApplicationBody;
/** An application, with its environments where `include: ["environments"]` asks for them. */
export type ApplicationDocument = SingleDocument<ApplicationResource, EnvironmentResource>;
export type ApplicationPage = PageDocument<ApplicationResource, EnvironmentResource>;

/** The types of the application collection. */
interface ApplicationKind {
  body: NewApplication;
  resource: ApplicationResource;
  included: EnvironmentResource;
  status: ApplicationStatus;
  filter: "name" | "region" | "status";
}

/** The applications of the token's organization. */
export class Applications extends Collection<ApplicationKind> {
  constructor(connection: Connection) {
    super(connection, "/applications");
  }

  /** The environments of the application with this id. */
  environments(id: string): Environments {
    return new Environments(this.connection, `${this.pathOf(id)}/environments`);
  }

  /** Reads what a deployment of a source in a new application would do; nothing is made, built or kept. */
  async plan(upload: NewUpload): Promise<PlanDocument> {
    return await sendUpload<PlanDocument>(this.connection, "/plans", upload);
  }

  /** Reads the sizes that an instance can have. */
  async instanceSizes(): Promise<InstanceSizeList> {
    return await this.connection.send({ method: "GET", path: "/instances/sizes" });
  }

  /** Changes an application; another repository is fetched at the next deployment. */
  async update(id: string, change: ApplicationChange): Promise<ApplicationDocument> {
    return await this.change<ApplicationDocument>(id, change);
  }

  /**
   * Gives an application with a repository behind SSH a new deploy key; the former key is gone.
   * @param options.idempotencyKey makes repetitions over several processes safe; by default each call has its own.
   */
  async rotateDeployKey(
    id: string,
    { idempotencyKey = newIdempotencyKey() }: { idempotencyKey?: string } = {},
  ): Promise<ApplicationDocument> {
    return await this.connection.send<ApplicationDocument>({
      method: "POST",
      path: `${this.pathOf(id)}/rotate-deploy-key`,
      headers: { "Idempotency-Key": idempotencyKey },
    });
  }
}
