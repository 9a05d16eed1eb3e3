// Renders a plan.
import type { Plan } from "../../../contracts/plan.ts";
import type { PlanResource } from "./plan-schema.ts";

/** The resource object of the plan of a commit. */
export function renderPlan(hash: string, plan: Plan): PlanResource {
  return {
    id: hash,
    type: "plans",
    attributes: {
      root_directory: plan.rootDirectory,
      language: plan.language,
      framework: plan.framework,
      runtime: plan.runtime,
      tools: plan.tools,
      install: plan.install,
      build: plan.build,
      deploy: plan.deploy,
      start: plan.start,
      processes: plan.processes,
      serving: plan.serving,
      port: plan.port,
      health_path: plan.healthPath,
      notes: plan.notes,
    },
  };
}
