// The operations on instances of environments: replicas, and background processes.
import type {
  BackgroundProcessChange,
  BackgroundProcessResource,
  EnvironmentResource,
  InstanceChange,
  InstanceResource,
  NewBackgroundProcess,
  NewInstance,
} from "../resources/applications/schema.ts";
import { Collection } from "./collection.ts";
import type { SingleDocument } from "./documents.ts";

/** The types of the collection of instances. */
interface InstanceKind {
  body: NewInstance;
  resource: InstanceResource;
  included: EnvironmentResource;
  status: never;
  filter: never;
}

/** The instances of an environment. */
export class Instances extends Collection<InstanceKind> {
  /** The background processes of the instance with this id. */
  backgroundProcesses(id: string): BackgroundProcesses {
    return new BackgroundProcesses(this.connection, `${this.pathOf(id)}/background-processes`);
  }

  /** Changes an instance: its name, its size, or its replicas. */
  async update(id: string, change: InstanceChange): Promise<SingleDocument<InstanceResource>> {
    return await this.change<SingleDocument<InstanceResource>>(id, change);
  }

  /** The path of an instance does not depend on its environment. */
  protected override pathOf(id: string): string {
    return `/instances/${encodeURIComponent(id)}`;
  }
}

/** The types of the collection of background processes. */
interface BackgroundProcessKind {
  body: NewBackgroundProcess;
  resource: BackgroundProcessResource;
  included: InstanceResource;
  status: never;
  filter: never;
}

/** The background processes of an instance. */
export class BackgroundProcesses extends Collection<BackgroundProcessKind> {
  /** Changes a background process; another command starts it anew. */
  async update(
    id: string,
    change: BackgroundProcessChange,
  ): Promise<SingleDocument<BackgroundProcessResource>> {
    return await this.change<SingleDocument<BackgroundProcessResource>>(id, change);
  }

  /** The path of a background process does not depend on its instance. */
  protected override pathOf(id: string): string {
    return `/background-processes/${encodeURIComponent(id)}`;
  }
}
