// How a plan looks to people: each part with its origin.
import type { PlanDocument } from "../../sdk/index.ts";
import { table } from "../table.ts";

type Plan = PlanDocument["data"]["attributes"];

/** What a deployment would do. */
export function planText({ data: { attributes: plan } }: PlanDocument): string {
  const rows = [
    ["Framework", plan.framework ?? "none recognized", ""],
    ...runtimeRows(plan),
    ...commandRows("Install", plan.install),
    ...commandRows("Build", plan.build),
    ...commandRows("Deploy", plan.deploy),
    ["Start", plan.start?.command ?? "a server of Pilvi's", plan.start?.origin ?? plan.serving.origin],
    ...plan.processes.map(({ name, command, origin }) => [`Process ${name}`, command, origin]),
    ...(plan.serving.root === null ? [] : [["Public folder", plan.serving.root || ".", plan.serving.origin]]),
    ["Port", plan.port.value === null ? "from PORT" : String(plan.port.value), plan.port.origin],
    ["Health check", plan.health_path.value ?? "an open port", plan.health_path.origin],
  ];
  const notes = plan.notes.map((note) => `Note: ${note}\n`).join("");
  return table([["PART", "VALUE", "ORIGIN"], ...rows]) + notes;
}

function runtimeRows({ runtime, tools }: Plan): string[][] {
  return [runtime, ...tools].map(({ name, version, origin }, at) => [
    at === 0 ? "Runtime" : "For the build",
    version === null ? name : `${name} ${version}`,
    origin,
  ]);
}

function commandRows(title: string, { commands, origin }: Plan["install"]): string[][] {
  if (commands.length === 0) return [[title, "nothing to do", origin]];
  return commands.map((command, at) => (at === 0 ? [title, command, origin] : ["", command, ""]));
}
