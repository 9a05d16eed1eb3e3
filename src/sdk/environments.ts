// The operations on environments: settings, variables, start and stop.
import type {
  ApplicationResource,
  EnvironmentChange,
  EnvironmentResource,
  EnvironmentStatus,
  NewEnvironment,
  VariablesDeletion,
  VariablesInsert,
} from "../resources/applications/schema.ts";
import type {
  EnvironmentLogEntry,
  EnvironmentLogsDocument,
  EnvironmentMetrics,
} from "../resources/applications/schema.ts";
import { Collection } from "./collection.ts";
import { Commands } from "./commands.ts";
import { Deployments, type DeploymentDocument } from "./deployments.ts";
import type { PageDocument, SingleDocument } from "./documents.ts";
import {
  type EnvironmentLogFilter,
  type EnvironmentLogPageOptions,
  followEnvironmentLogs,
  readEnvironmentLogs,
} from "./environment-logs.ts";
import { newIdempotencyKey } from "./idempotency-key.ts";
import { Instances } from "./instances.ts";
import { type MetricPeriod, type MetricStep, readMetrics } from "./metrics.ts";
import { type NewUpload, type PlanDocument, sendUpload } from "./uploads.ts";

/** An environment, with its application where `include: ["application"]` asks for it. */
export type EnvironmentDocument = SingleDocument<EnvironmentResource, ApplicationResource>;
export type EnvironmentPage = PageDocument<EnvironmentResource, ApplicationResource>;

/** The types of the environment collection. */
interface EnvironmentKind {
  body: NewEnvironment;
  resource: EnvironmentResource;
  included: ApplicationResource;
  status: EnvironmentStatus;
  filter: "name" | "status";
}

/** The environments of an application. */
export class Environments extends Collection<EnvironmentKind> {
  /** The deployments of the environment with this id. */
  deployments(id: string): Deployments {
    return new Deployments(this.connection, `${this.pathOf(id)}/deployments`);
  }

  /** The commands that somebody runs once in the environment with this id. */
  commands(id: string): Commands {
    return new Commands(this.connection, `${this.pathOf(id)}/commands`);
  }

  /** The instances of the environment with this id. */
  instances(id: string): Instances {
    return new Instances(this.connection, `${this.pathOf(id)}/instances`);
  }

  /** Changes an environment; what a build needs takes effect at the next deployment. */
  async update(id: string, change: EnvironmentChange): Promise<EnvironmentDocument> {
    return await this.change<EnvironmentDocument>(id, change);
  }

  /** Uploads a source, which becomes a commit of the environment's branch, and deploys it. */
  async upload(id: string, upload: NewUpload): Promise<DeploymentDocument> {
    return await sendUpload<DeploymentDocument>(this.connection, `${this.pathOf(id)}/uploads`, upload);
  }

  /** Reads what a deployment of a source would do; nothing is built, and nothing is kept. */
  async plan(id: string, upload: NewUpload): Promise<PlanDocument> {
    return await sendUpload<PlanDocument>(this.connection, `${this.pathOf(id)}/plans`, upload);
  }

  /** Adds and changes variables. */
  async setVariables(id: string, body: VariablesInsert): Promise<EnvironmentDocument> {
    const path = `${this.pathOf(id)}/variables`;
    // Variables that were appended already would be refused.
    return await this.connection.send({
      method: "POST",
      path,
      body,
      ...(body.method === "append" && { isOnce: true }),
    });
  }

  /** Deletes variables: all that the body names or, when one is missing, none. */
  async deleteVariables(id: string, body: VariablesDeletion): Promise<EnvironmentDocument> {
    return await this.connection.send({
      method: "POST",
      path: `${this.pathOf(id)}/variables/delete`,
      body,
      // A repeated deletion would be refused, since the variables are gone.
      isOnce: true,
    });
  }

  /**
   * Starts an environment with a deployment.
   * @param options.redeploy takes what the latest successful deployment had, without building where its release is kept.
   */
  async start(id: string, options: { redeploy?: boolean } = {}): Promise<DeploymentDocument> {
    return await this.connection.send({
      method: "POST",
      path: `${this.pathOf(id)}/start`,
      body: options,
      headers: { "Idempotency-Key": newIdempotencyKey() },
    });
  }

  /** Stops an environment, and cancels a deployment that is under way. */
  async stop(id: string): Promise<EnvironmentDocument> {
    return await this.connection.send({ method: "POST", path: `${this.pathOf(id)}/stop` });
  }

  /** Has the edge answer with nothing that it has kept of the environment so far. */
  async purgeEdgeCache(id: string): Promise<EnvironmentDocument> {
    return await this.connection.send({
      method: "POST",
      path: `${this.pathOf(id)}/purge-edge-cache`,
      body: {},
    });
  }

  /** Reads the metrics, of the last six hours by default; nothing is woken. */
  async metrics(id: string, period?: MetricPeriod, step?: MetricStep): Promise<EnvironmentMetrics> {
    return await readMetrics<EnvironmentMetrics>(this.connection, this.pathOf(id), period, step);
  }

  /** Reads a page of the log, from the oldest entry that is kept on; nothing is woken. */
  async logs(id: string, options: EnvironmentLogPageOptions = {}): Promise<EnvironmentLogsDocument> {
    return await readEnvironmentLogs(this.connection, this.pathOf(id), options);
  }

  /** Yields each entry of the log when it is there, from now on by default, until the signal is aborted. */
  followLogs(
    id: string,
    options: EnvironmentLogFilter & { cursor?: string; signal?: AbortSignal } = {},
  ): AsyncGenerator<EnvironmentLogEntry, void> {
    return followEnvironmentLogs(this.connection, this.pathOf(id), options);
  }

  /** The path of an environment does not depend on its application. */
  protected override pathOf(id: string): string {
    return `/environments/${encodeURIComponent(id)}`;
  }
}
