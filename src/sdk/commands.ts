// The operations on commands.
import type {
  CommandOutput,
  CommandResource,
  CommandStatus,
  DeploymentResource,
  EnvironmentResource,
  NewCommand,
} from "../resources/applications/schema.ts";
import { Collection } from "./collection.ts";
import type { PageDocument, SingleDocument } from "./documents.ts";

export type CommandDocument = SingleDocument<CommandResource, EnvironmentResource | DeploymentResource>;
export type CommandPage = PageDocument<CommandResource, EnvironmentResource | DeploymentResource>;

/** The types of the command collection. */
interface CommandKind {
  body: NewCommand;
  resource: CommandResource;
  included: EnvironmentResource | DeploymentResource;
  status: CommandStatus;
  filter: "status" | "command";
}

/** The commands of an environment, the newest first. */
export class Commands extends Collection<CommandKind> {
  /**
   * Reads a part of a command's output; the answer is held for some seconds while there is none.
   * @param options.after `meta.cursor` of the part before; the beginning when left out.
   */
  async output(id: string, options: { after?: string; signal?: AbortSignal } = {}): Promise<CommandOutput> {
    const { after, signal } = options;
    const query = new URLSearchParams(after === undefined ? {} : { after });
    return await this.connection.send({ method: "GET", path: `${this.pathOf(id)}/output`, query, signal });
  }

  /** Has a command ended; an ended command stays as it is. */
  async cancel(id: string): Promise<CommandDocument> {
    return await this.connection.send({ method: "POST", path: `${this.pathOf(id)}/cancel` });
  }

  /** The path of a command does not depend on its environment. */
  protected override pathOf(id: string): string {
    return `/commands/${encodeURIComponent(id)}`;
  }
}
