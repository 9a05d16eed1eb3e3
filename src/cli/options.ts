// Options that many commands share.
import { type Command, InvalidArgumentError, Option } from "commander";

/** The values of the options `--wait` and `--timeout`. */
export interface WaitOptions {
  wait?: true;
  timeout: number;
}

/** The help text of the argument that names a resource. */
export function nameArgument(noun: string): string {
  return `an id, or a name that only one ${noun} has`;
}

/** Adds `--json`. */
export function withJson(command: Command): Command {
  return command.option("--json", "print the API's document, and nothing else, on stdout");
}

/** Adds `--wait` and `--timeout`. */
export function withWait(command: Command, until: string): Command {
  return command
    .option("--wait", `wait until ${until}`)
    .addOption(
      new Option("--timeout <seconds>", "how long to wait at most").argParser(wholeNumber).default(120),
    );
}

/** Reads an option's value that is a whole number, 1 or more. */
export function countingNumber(text: string): number {
  const count = wholeNumber(text);
  if (count === 0) throw new InvalidArgumentError("It must be 1 or more.");
  return count;
}

/** Reads an option's value that is a whole number. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}
