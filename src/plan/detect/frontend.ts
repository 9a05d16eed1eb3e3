// The assets of a PHP or Python application, which npm builds.
import type { PlannedCommands, PlannedRuntime } from "../../contracts/plan.ts";
import { installThemselves, needsNode } from "../commands.ts";
import { resolveVersion } from "../versions.ts";
import { buildOf, versionRequest, type DetectionInput } from "./node.ts";
import { PackageJson } from "./package-json.ts";
import { packageManagerOf } from "./package-manager.ts";

/** What building the assets adds to a plan. */
export interface Frontend {
  tools: PlannedRuntime[];
  /** Folders of programs, relative to the top of the source. */
  paths: string[];
  /** What an install of the customer's own needs first. */
  setup: string[];
  install: string[];
  build?: PlannedCommands;
}

/** Nothing, unless package.json has a script `build`, or there is one and a command needs Node.js. */
export function frontendOf(input: DetectionInput): Frontend {
  const [folder] = input.folders;
  const packageJson = PackageJson.read(folder);
  const isNeeded =
    packageJson?.script("build") !== undefined || input.commands.some((each) => needsNode(each, "python"));
  if (packageJson === undefined || !isNeeded) return { tools: [], paths: [], setup: [], install: [] };
  const manager = packageManagerOf([folder], packageJson);
  const name = manager.name === "bun" ? "bun" : "node";
  const request = input.versionOf(name) ?? versionRequest(name, input, packageJson);
  const build = buildOf(packageJson, manager, folder, null);
  return {
    tools: [resolveVersion(name, request, input.available)],
    paths: manager.paths,
    setup: manager.setup,
    install: installThemselves(input.buildCommands, "JavaScript") ? manager.setup : manager.install.commands,
    ...(build !== undefined && { build }),
  };
}
