// How the command line changes a setting that a refusal of a plan names as the API does.
import { PilviError } from "../../sdk/index.ts";
import { CommandError, endingOf } from "../failure.ts";
import type { Target } from "./target.ts";

/** Options of `pilvi environments update`, with a word for the value. */
const OPTIONS: Record<string, string> = {
  node_version: "--node-version VERSION",
  php_version: "--php-version VERSION",
  start_command: "--start-command COMMAND",
  serving_root: "--serving-root FOLDER",
};

const NAMED = new RegExp(`\\bset (root_directory|${Object.keys(OPTIONS).join("|")})\\b`, "g");

type Place = Pick<Target, "environment" | "link">;

/**
 * A line that names the command of each setting; empty where the refusal names none.
 * @param target undefined for a folder without an application.
 */
export function settingHint(refusal: string, target: Place | undefined): string {
  // The other lines are output of the customer's programs.
  const [sentence = ""] = refusal.split("\n", 1);
  const settings = new Set([...sentence.matchAll(NAMED)].map(([, setting = ""]) => setting));
  const commands = [...settings].map((setting) => commandOf(setting, target));
  return commands.length === 0 ? "" : `\nSet it with: ${commands.join("\nor with: ")}`;
}

function commandOf(setting: string, target: Place | undefined): string {
  if (setting === "root_directory")
    return target === undefined
      ? "pilvi init --root FOLDER"
      : `pilvi apps set-root ${target.link.application_id} FOLDER`;
  const first = target === undefined ? "pilvi init, and then: " : "";
  const environment = target?.environment.attributes.name ?? "production";
  const name = environment.includes(" ") ? `'${environment}'` : environment;
  return `${first}pilvi environments update ${name} ${OPTIONS[setting]}`;
}

/** The same error of a request, with the line. */
export function withSettingHint(error: unknown, target: Target | undefined): unknown {
  const ending = error instanceof PilviError ? endingOf(error) : undefined;
  if (ending === undefined) return error;
  const hint = settingHint(ending.text, target);
  return hint === "" ? error : new CommandError(ending.text + hint, ending.exitCode);
}
