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
 * Commands that install dependencies, at the beginning of a line or after `&&`. Those of Python are of another kind: they
 * need the virtual environment that Pilvi's own install makes.
 */
const INSTALLS =
  /(?:^|&&|;)\s*(?:npm (?:ci|i|install)|pnpm (?:i|install)|yarn(?: install)?(?=\s*(?:$|&&|;|--))|bun (?:i|install|ci)|composer (?:i|install)|deno install)\b/;

/** Programs that install packages of Python, each with what it installs all packages of a repository from. */
const PYTHON_INSTALLS = {
  uv: /(?:^|&&|;)\s*uv sync\b/,
  poetry: /(?:^|&&|;)\s*poetry install\b/,
  pipenv: /(?:^|&&|;)\s*pipenv (?:sync|install)\b/,
  requirements: withPip(String.raw`\s(?:-r|--requirement)[\s=]*(?:\./)?requirements\.txt(?![\w.-])`),
  project: withPip(String.raw`\s\.(?:\[|\s|$)`),
  any: withPip(""),
};

function withPip(words: string): RegExp {
  return new RegExp(
    String.raw`(?:^|&&|;)\s*(?:(?:[\w./-]{1,100}/)?python3? -m )?(?:[\w./-]{1,100}/)?pip3? install\b[^&;|]*?${words}`,
  );
}

/** Whether commands for a build install packages of Python in this way. */
export function installPython(commands: readonly string[], way: keyof typeof PYTHON_INSTALLS): boolean {
  return commands.some((command) => PYTHON_INSTALLS[way].test(command));
}

/** Whether commands for a build install the dependencies themselves, as those of the wider API do. */
export function installThemselves(commands: readonly string[]): boolean {
  return commands.some((command) => INSTALLS.test(command));
}
