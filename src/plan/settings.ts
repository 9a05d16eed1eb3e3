// What an environment and its application say about a plan, before the files of the source.
import { PLAN_BOUNDS, type PlannedCommands } from "../contracts/plan.ts";
import { checkCommand, commandLines } from "./commands.ts";
import type { Draft } from "./draft.ts";
import { PlanRefusal } from "./faults.ts";

const ORIGIN = "environment";

/** Null leaves a field to the repository; an empty text means that there is nothing to do. */
export interface PlanSettings {
  /** The folder of a monorepo; empty for the top. */
  rootDirectory: string;
  nodeVersion: string | null;
  phpVersion: string | null;
  /** Commands, one a line. */
  buildCommand: string | null;
  deployCommand: string | null;
  /** An empty text leaves the start to the repository. */
  startCommand: string | null;
}

/** @throws PlanRefusal when a field is out of its bounds. */
export function settingsDraft(settings: PlanSettings): Draft {
  const { startCommand } = settings;
  const [build, deploy] = (["build", "deploy"] as const).map((step) => stepOf(step, settings));
  return {
    ...(build !== undefined && { build }),
    ...(deploy !== undefined && { deploy }),
    ...(startCommand !== null &&
      startCommand.trim() !== "" && {
        start: { value: checkCommand(startCommand.trim(), "start_command"), origin: ORIGIN },
      }),
  };
}

function stepOf(step: "build" | "deploy", settings: PlanSettings): PlannedCommands | undefined {
  const text = settings[`${step}Command`];
  if (text === null) return undefined;
  const commands = commandLines(text, `${step}_command`);
  return { commands, directory: settings.rootDirectory, origin: ORIGIN };
}

/**
 * A folder below another, without a way out of it.
 * @throws PlanRefusal that names the field of the API.
 */
export function checkedRoot(path: string): string {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  const isFine =
    !path.startsWith("/") &&
    path.length <= PLAN_BOUNDS.path &&
    !names.includes("..") &&
    !/\p{Cc}/u.test(path);
  if (!isFine) throw new PlanRefusal("root_directory must be a folder of the repository, such as apps/web.");
  return names.join("/");
}
