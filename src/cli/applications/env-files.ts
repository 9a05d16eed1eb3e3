// `pilvi env pull` and `pilvi env push`: variables from and to a `.env` file.
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { Command } from "commander";
import { CommandError } from "../failure.ts";
import { type Session, withExamples } from "../session.ts";
import { utf8Text } from "../utf8.ts";
import { dotenvText, parseDotenv } from "./dotenv.ts";
import { setVariables, variablesOf } from "./env.ts";
import { filesToPack } from "./pack.ts";
import { targetOf, type TargetOptions, withEnvironment } from "./target.ts";

const FILE = ".env";

/** Adds `pull`. */
export function addPull(env: Command, session: Session): void {
  const command = env
    .command("pull")
    .description("write the variables into a file that only you can read")
    .argument("[file]", "the file; `-` is the output", FILE)
    .option("--force", "replace a file that exists");
  withEnvironment(command).action(async (file: string, options: TargetOptions & { force?: true }) => {
    const { io } = session;
    const path = resolve(io.folder, file);
    if (file !== "-" && options.force !== true && existsSync(path))
      throw new CommandError(`${file} exists. Replace it with: pilvi env pull ${file} --force`);
    const { environment, link } = await targetOf(session, options);
    const variables = variablesOf(environment);
    if (file === "-") return io.data(dotenvText(variables));
    writeFileSync(path, dotenvText(variables), { mode: 0o600 });
    // The mode of a file that exists stays, unless it is changed.
    chmodSync(path, 0o600);
    io.out(`Wrote ${variables.length} variables to ${file}.\n`);
    if ((await filesToPack(link.folder)).names.includes(relative(link.folder, path)))
      io.err(
        `\`pilvi deploy\` would upload ${file} with its secrets. Name it in a .gitignore to keep it here.\n`,
      );
  });
  withExamples(command, ["pilvi env pull", "pilvi env pull .env.staging --environment staging"]);
}

/** Adds `push`. */
export function addPush(env: Command, session: Session): void {
  const command = env
    .command("push")
    .description("set all variables of a file; others stay as they are")
    .argument("[file]", "the file; `-` is the input", FILE);
  withEnvironment(command).action(async (file: string, options: TargetOptions) => {
    const text = file === "-" ? await session.io.readInput() : readText(session.io.folder, file);
    const variables = parseDotenv(text);
    if (variables.length === 0) throw new CommandError(`${file} has no variables.`);
    await setVariables(session, await targetOf(session, options), variables);
  });
  withExamples(command, ["pilvi env push", "pilvi env push .env.production"]);
}

function readText(folder: string, file: string): string {
  return utf8Text(readBytes(resolve(folder, file), file), file);
}

function readBytes(path: string, file: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch {
    throw new CommandError(`${file} cannot be read.`);
  }
}
