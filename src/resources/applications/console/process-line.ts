// A line of what runs in an environment.
import type { BackgroundProcessResource, InstanceResource } from "../../../sdk/index.ts";
import type { EnvironmentIds } from "./queries.ts";

/** An instance, or a background process of the instance. */
export interface ProcessLine {
  instance: InstanceResource;
  process: BackgroundProcessResource | null;
}

export function nameOf({ instance, process }: ProcessLine): string {
  if (process !== null) return process.meta.procfile_name ?? process.attributes.type;
  return instance.attributes.name;
}

export function processesKey({ environmentId }: EnvironmentIds): string[] {
  return ["applications", "processes", environmentId];
}
