// The `pilvi` program: runs the command of its arguments, and ends with the exit code of that command.
import "./lib/reflection.ts";
import { type Command, CommanderError } from "commander";
import { endingOf, printable } from "./cli/index.ts";
import { createProgram } from "./commands.ts";
import { codeOf, messageOf } from "./lib/errors.ts";

/** Prints an error. @returns the exit code. */
function endWith(error: unknown): number {
  // The library has printed its error already; its own codes do not distinguish wrong usage from failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const ending = endingOf(error);
  // Bun's console would write this text in red.
  process.stderr.write(printable(`${ending?.text ?? messageOf(error)}\n`));
  if (process.env["PILVI_LOG_LEVEL"] === "debug") console.error(error);
  return ending?.exitCode ?? 1;
}

/** Goes to the folder that the command was given in; the launcher starts Bun in another. */
function enterFolder(): void {
  const folder = process.env["PILVI_FOLDER"];
  delete process.env["PILVI_FOLDER"];
  if (folder !== undefined) process.chdir(folder);
}

async function run(args: string[]): Promise<void> {
  const program = createProgram();
  const [first = "--help", ...rest] = args;
  // The library's own `help` looks one command deep only.
  const words = first === "help" ? [...pathOf(program, rest), "--help"] : [first, ...rest];
  if (words.includes("--help") || words.includes("-h")) pathOf(program, words);
  await program.parseAsync(words, { from: "user" });
}

/**
 * The words that name a command, without its arguments. For the help of a command that does not exist the library would
 * print that of what is above it, as if nothing were wrong.
 * @throws CommanderError for a command that does not exist.
 */
function pathOf(command: Command, [word = "-", ...rest]: string[]): string[] {
  if (word.startsWith("-") || command.commands.length === 0) return [];
  const next = command.commands.find((each) => each.name() === word);
  if (next !== undefined) return [word, ...pathOf(next, rest)];
  // Each group has a `help` of the library, which takes any words.
  if (word === "help") return [];
  return command.error(`error: unknown command '${word}'`, { exitCode: 2 });
}

// Files get the modes that the code names; the umask of the caller could close folders to the users that engines run
// as.
process.umask(0o022);

// A reader that leaves early, such as `head`, is not an error.
process.stdout.on("error", (error) => process.exit(codeOf(error) === "EPIPE" ? 0 : 1));

try {
  enterFolder();
  await run(process.argv.slice(2));
} catch (error) {
  process.exitCode = endWith(error);
}
// The channel to the parent process would keep this process from ending.
if (process.connected) process.disconnect?.();
