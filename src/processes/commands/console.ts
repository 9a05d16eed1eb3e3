// `pilvi console`: a one-time link with which a person comes into the console.
import type { Config } from "../../config.ts";
import { consoleLink } from "../bootstrap/console-link.ts";

/** Prints a link, which works once. @returns the exit code. */
export async function consoleLinkCommand(config: Config, options: { email?: string }): Promise<number> {
  process.stdout.write(`${await consoleLink(config, options.email)}\n`);
  return 0;
}
