// Renders an instance of an environment.
import type { InstanceResource } from "./schema.ts";
import type { InstanceRow } from "./store.ts";

/** The resource object. */
export function renderInstance({
  id,
  environmentId,
  name,
  type,
  settings,
  backgroundProcessIds,
  usesScheduler,
  createdAt,
}: InstanceRow): InstanceResource {
  return {
    id,
    type: "instances",
    attributes: {
      name,
      type,
      size: settings.size,
      scaling_type: settings.replicas === undefined ? "none" : "custom",
      min_replicas: settings.replicas ?? 1,
      max_replicas: settings.replicas ?? 1,
      uses_scheduler: usesScheduler,
      scaling_cpu_threshold_percentage: null,
      scaling_memory_threshold_percentage: null,
      created_at: createdAt,
    },
    relationships: {
      environment: { data: { id: environmentId, type: "environments" } },
      backgroundProcesses: {
        data: backgroundProcessIds.map((process) => ({ id: process, type: "background_processes" })),
      },
    },
  };
}
