// Commands as people write them in text boxes and files.
import { PLAN_BOUNDS, type RuntimeName } from "../contracts/plan.ts";
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

/** Commands that install the dependencies of a language, at the beginning of a line or after `&&`; those of Python follow. */
const INSTALLS = {
  JavaScript:
    /(?:^|&&|;)\s*(?:npm (?:ci|i|install)|pnpm (?:i|install)|yarn(?: install)?(?=\s*(?:$|&&|;|--))|bun (?:i|install|ci))\b/,
  PHP: /(?:^|&&|;)\s*composer (?:i|install)\b/,
  Deno: /(?:^|&&|;)\s*deno install\b/,
};

/** Programs that install packages of Python, each with what it installs all packages of a repository from. */
const PYTHON_INSTALLS = {
  uv: /(?:^|&&|;)\s*uv sync\b/,
  poetry: /(?:^|&&|;)\s*poetry install\b/,
  pipenv: /(?:^|&&|;)\s*pipenv (?:sync|install)\b/,
  requirements: withPip(String.raw`\s(?:-r|--requirement)[\s=]*(?:\./)?requirements\.txt(?![\w.-])`),
  project: withPip(String.raw`\s\.(?:\[|\s|$)`),
  any: withPip(""),
};

/** The very command of a plan, before anything else. The plan's own keeps the packages for later builds. */
const PLAIN_INSTALL = /^\s*(?:python3? -m )?pip3? install -r requirements\.txt\s*(?:$|&&|;)/;

function withPip(words: string): RegExp {
  return new RegExp(
    String.raw`(?:^|&&|;)\s*(?:(?:[\w./-]{1,100}/)?python3? -m )?(?:[\w./-]{1,100}/)?pip3? install\b[^&;|]*?${words}`,
  );
}

/** Whether commands for a build install packages of Python in this way, other than the plan does. */
export function installPython(commands: readonly string[], way: keyof typeof PYTHON_INSTALLS): boolean {
  const own = way === "any" ? commands : commands.filter((command) => !PLAIN_INSTALL.test(command));
  return own.some((command) => PYTHON_INSTALLS[way].test(command));
}

/** Whether commands for a build install the dependencies of a language themselves, as those of the wider API do. */
export function installThemselves(commands: readonly string[], language: keyof typeof INSTALLS): boolean {
  return commands.some((command) => INSTALLS[language].test(command));
}

const NODE_PACKAGE_MANAGERS = /(?:^|[\s;&|(])(?:npm|npx|pnpm|pnpx|yarn)(?=[\s;&|)]|$)/;
const NODE = /(?:^|[\s;&|(])node(?=[\s;&|)]|$)|node_modules\/\.bin\//;

/** Whether a command needs Node.js beside another runtime. Bun is a `node` itself. */
export function needsNode(command: string, runtime: RuntimeName): boolean {
  return NODE_PACKAGE_MANAGERS.test(command) || (runtime !== "bun" && NODE.test(command));
}
