// The fields of an environment that have the last word about its plan.
import { PLAN_BOUNDS, type PlannedCommands, type RuntimeName, type servingModes } from "../contracts/plan.ts";
import { checkCommand, commandLines } from "./commands.ts";
import type { Draft } from "./draft.ts";
import { PlanRefusal } from "./faults.ts";

const ORIGIN = "environment";

/** Null leaves a field to the repository; an empty text means that there is nothing to do. */
export interface PlanSettings {
  /** The folder of a monorepo; empty for the top. */
  rootDirectory: string;
  runtime: RuntimeName | null;
  nodeVersion: string | null;
  phpVersion: string | null;
  /** Commands, one a line. */
  installCommand: string | null;
  buildCommand: string | null;
  deployCommand: string | null;
  startCommand: string | null;
  serving: { mode: (typeof servingModes)[number]; root: string | null } | null;
  port: number | null;
  healthPath: string | null;
}

/** Settings that leave everything to the repository. */
export const NO_SETTINGS: PlanSettings = {
  rootDirectory: "",
  runtime: null,
  nodeVersion: null,
  phpVersion: null,
  installCommand: null,
  buildCommand: null,
  deployCommand: null,
  startCommand: null,
  serving: null,
  port: null,
  healthPath: null,
};

/** @throws PlanRefusal when a field is out of its bounds. */
export function settingsDraft(settings: PlanSettings): Draft {
  const { startCommand, serving, port, healthPath } = settings;
  const [install, build, deploy] = (["install", "build", "deploy"] as const).map((step) =>
    stepOf(step, settings),
  );
  return {
    ...(install !== undefined && { install }),
    ...(build !== undefined && { build }),
    ...(deploy !== undefined && { deploy }),
    ...(startCommand !== null &&
      startCommand.trim() !== "" && {
        start: { value: checkCommand(startCommand.trim(), "start_command"), origin: ORIGIN },
      }),
    ...(serving !== null && {
      serving: {
        mode: serving.mode,
        root: serving.mode === "process" ? null : checkedRoot(serving.root ?? "", "serving.root"),
        fallback: false,
        origin: ORIGIN,
      },
    }),
    ...(port !== null && { port: { value: checkedPort(port), origin: ORIGIN } }),
    ...(healthPath !== null && { healthPath: { value: checkedHealthPath(healthPath), origin: ORIGIN } }),
  };
}

function stepOf(step: "install" | "build" | "deploy", settings: PlanSettings): PlannedCommands | undefined {
  const text = settings[`${step}Command`];
  if (text === null) return undefined;
  const commands = commandLines(text, `${step}_command`);
  return { commands, directory: settings.rootDirectory, origin: ORIGIN };
}

/**
 * A folder below another, without a way out of it.
 * @throws PlanRefusal that names the field.
 */
export function checkedRoot(path: string, field: string): string {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  const isFine =
    !path.startsWith("/") &&
    path.length <= PLAN_BOUNDS.path &&
    !names.includes("..") &&
    !/\p{Cc}/u.test(path);
  if (!isFine) throw new PlanRefusal(`${field} must be a folder of the repository, such as apps/web.`);
  return names.join("/");
}

function checkedPort(port: number): number {
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new PlanRefusal("port must be an integer from 1 to 65535.");
}

function checkedHealthPath(path: string): string {
  if (/^\/[!-~]{0,499}$/.test(path)) return path;
  throw new PlanRefusal("The health path must begin with / and have at most 500 characters without spaces.");
}
