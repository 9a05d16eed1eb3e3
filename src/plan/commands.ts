// Commands as people write them in text boxes and files.
import { PLAN_BOUNDS } from "../contracts/plan.ts";
import { PlanRefusal } from "./faults.ts";

/**
 * The commands of a text: a command a line. Empty lines and comments are left out; a backslash at the end joins lines.
 * @param where the origin of the text, as the subject of a sentence.
 * @throws PlanRefusal when there are too many, or when a command is too long or has a control character.
 */
export function commandLines(text: string, where: string): string[] {
  const lines = text
    .replaceAll("\r\n", "\n")
    .replaceAll(/\\\n[ \t]*/g, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  return checkedCommands(lines, where);
}

/** @throws PlanRefusal as `commandLines`. */
export function checkedCommands(commands: string[], where: string): string[] {
  if (commands.length > PLAN_BOUNDS.commands) {
    throw new PlanRefusal(
      `${where} has ${commands.length} commands; ${PLAN_BOUNDS.commands} are allowed. A script in the repository can hold more.`,
    );
  }
  for (const command of commands) checkCommand(command, where);
  return commands;
}

/** @throws PlanRefusal when the command is empty, too long, or has a control character. */
export function checkCommand(command: string, where: string): string {
  if (command.trim() === "") throw new PlanRefusal(`${where} has an empty command.`);
  if (command.length > PLAN_BOUNDS.command) {
    throw new PlanRefusal(
      `${where} has a command of ${command.length} characters; ${PLAN_BOUNDS.command} are allowed.`,
    );
  }
  if (/(?!\t)\p{Cc}/u.test(command))
    throw new PlanRefusal(`${where} has a command with a control character.`);
  return command;
}

/**
 * Commands that install dependencies, at the beginning of a line or after `&&`. Those of Python are none: they need the
 * virtual environment that Pilvi's own install makes.
 */
const INSTALLS =
  /(?:^|&&|;)\s*(?:npm (?:ci|i|install)|pnpm (?:i|install)|yarn(?: install)?(?=\s*(?:$|&&|;|--))|bun (?:i|install|ci)|composer (?:i|install)|deno install)\b/;

/** Whether commands for a build install the dependencies themselves, as those of the wider API do. */
export function installThemselves(commands: readonly string[]): boolean {
  return commands.some((command) => INSTALLS.test(command));
}
