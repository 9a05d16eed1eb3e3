// `pilvi run`: a command in the environment, with its output as it comes and its exit code.
import type { Command } from "commander";
import type { CommandDocument, Commands } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { withJson } from "../options.ts";
import { targetOf, type TargetOptions, withEnvironment } from "./target.ts";

/** The pause between two readings, at first and later; a reading itself waits for output. */
const [FIRST_PAUSE_MS, PAUSE_MS, QUICK_READINGS] = [100, 500, 20];

/** A word that a shell takes as it is. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

interface RunOptions extends TargetOptions {
  detach?: true;
  json?: true;
}

/** Adds `run`. */
export function addRun(program: Command, session: Session): void {
  const command = program
    .command("run")
    .description("run a command once in the linked environment, with its files and variables")
    .argument("<command...>", "the command; options of its own are passed on")
    .option("-d, --detach", "print the id of the command at once, and let it go on")
    .passThroughOptions();
  withJson(withEnvironment(command)).action(async (words: string[], options: RunOptions) => {
    const { environments, environment } = await targetOf(session, options);
    const commands = environments.commands(environment.id);
    const begun = await commands.create({ command: commandOf(words) });
    if (options.detach === true) {
      const text = options.json === true ? jsonText(begun) : `${begun.data.id}\n`;
      return session.io.out(text);
    }
    await finish(session, commands, begun, options.json === true);
  });
  withExamples(command, [
    "pilvi run node scripts/import.js",
    "pilvi run 'env | sort'",
    "pilvi run --detach -- npm run reindex",
  ]);
}

/** A single word is a text for the shell; several words are a program with its arguments. */
export function commandOf(words: readonly string[]): string {
  const [only, ...others] = words;
  if (only !== undefined && others.length === 0) return only;
  return words.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}

/** Prints the output to the end. @throws CommandError with the exit code 130 on Ctrl-C, or when it did not end itself. */
async function finish(
  { io }: Session,
  commands: Commands,
  { data: { id } }: CommandDocument,
  isJson: boolean,
): Promise<void> {
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const forget = io.onInterrupt(() => interrupt.abort());
  try {
    let after: string | undefined;
    for (let readings = 0; ; readings++) {
      const { data, meta } = await commands.output(id, { signal, ...(after !== undefined && { after }) });
      if (!isJson) for (const { text } of data) io.out(`${text}\n`);
      if (meta.is_complete) break;
      after = meta.cursor;
      await io.pause(readings < QUICK_READINGS ? FIRST_PAUSE_MS : PAUSE_MS, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    await commands.cancel(id);
    throw new CommandError("Interrupted. The command was cancelled.", 130);
  } finally {
    // A second Ctrl-C must not cut off the cancel.
    if (!signal.aborted) forget();
  }
  const ended = await commands.get(id);
  if (isJson) io.out(jsonText(ended));
  const { status, exit_code: exitCode, failure_reason: reason } = ended.data.attributes;
  if (status === "command.success") return;
  if (exitCode === null) throw new CommandError(reason ?? "The command failed.");
  io.exitWith(exitCode);
}
