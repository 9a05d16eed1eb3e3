// What an environment and its application say about a plan, before the files of the source.
import {
  PLAN_BOUNDS,
  type PlannedCommands,
  type PlannedServing,
  type servingFallbacks,
} from "../contracts/plan.ts";
import { checkCommand, commandLines } from "./commands.ts";
import type { Draft } from "./draft.ts";
import { PlanRefusal } from "./faults.ts";

const ORIGIN = "environment";

/** The health check that asks for no path. */
const OPEN_PORT = "port";

/** Null leaves a field to the repository; an empty text means that there is nothing to do. */
export interface PlanSettings {
  /** The environment by its name where it sleeps without requests, and nothing wakes it by the clock; else null. */
  sleeps: { environment: string } | null;
  /** The folder of a monorepo; empty for the top. */
  rootDirectory: string;
  nodeVersion: string | null;
  phpVersion: string | null;
  /** Commands, one a line. */
  buildCommand: string | null;
  deployCommand: string | null;
  /** An empty text leaves the start to the repository. */
  startCommand: string | null;
  /** A path, or `port` where an open port is enough. */
  healthPath: string | null;
  servingMode: PlannedServing["mode"] | null;
  /** The public folder, relative to the root directory. */
  servingRoot: string | null;
  servingFallback: (typeof servingFallbacks)[number] | null;
}

/** @throws PlanRefusal when a field is out of its bounds. */
export function settingsDraft(settings: PlanSettings): Draft {
  const { startCommand, healthPath } = settings;
  const [build, deploy] = (["build", "deploy"] as const).map((step) => stepOf(step, settings));
  return {
    ...(build !== undefined && { build }),
    ...(deploy !== undefined && { deploy }),
    ...(startCommand !== null &&
      startCommand.trim() !== "" && {
        start: { value: checkCommand(startCommand.trim(), "start_command"), origin: ORIGIN },
      }),
    ...(healthPath !== null && {
      healthPath: {
        value: healthPath === OPEN_PORT ? null : healthPath,
        origin: `${ORIGIN}: health_path`,
      },
    }),
  };
}

function stepOf(step: "build" | "deploy", settings: PlanSettings): PlannedCommands | undefined {
  const text = settings[`${step}Command`];
  if (text === null) return undefined;
  const commands = commandLines(text, `${step}_command`);
  return { commands, directory: settings.rootDirectory, origin: ORIGIN };
}

/** @throws PlanRefusal when it is no folder of the repository. */
export function checkedRoot(path: string): string {
  return innerFolder(path, "root_directory must be a folder of the repository, such as apps/web.");
}

/**
 * A folder below another, without a way out of it.
 * @throws PlanRefusal with the sentence.
 */
export function innerFolder(path: string, refusal: string): string {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  const isFine =
    !path.startsWith("/") &&
    path.length <= PLAN_BOUNDS.path &&
    !names.includes("..") &&
    !/\p{Cc}/u.test(path);
  if (!isFine) throw new PlanRefusal(refusal);
  return names.join("/");
}
