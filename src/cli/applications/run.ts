// `pilvi run`: a command in the environment, in this terminal, or with its output as it comes, and its exit code.
import type { Command } from "commander";
import { type CommandDocument, type Commands, PilviError } from "../../sdk/index.ts";
import { givenUp, readPatiently } from "../absence.ts";
import { CommandError } from "../failure.ts";
import type { Io } from "../io.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { withJson } from "../options.ts";
import { openRemoteTerminal } from "./terminal.ts";
import { targetOf, type TargetOptions, withEnvironment } from "./target.ts";

/** The pause between two readings, at first and later; a reading itself waits for output. */
const [FIRST_PAUSE_MS, PAUSE_MS, QUICK_READINGS] = [100, 500, 20];

/** A word that a shell takes as it is. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

interface RunOptions extends TargetOptions {
  detach?: true;
  json?: true;
  /** False by `--no-terminal`. */
  terminal: boolean;
}

/** Adds `run`. */
export function addRun(program: Command, session: Session): void {
  const command = program
    .command("run")
    .description("run a command once in the linked environment, with its files and variables")
    .argument("<command...>", "the command; options of its own are passed on")
    .option("-d, --detach", "print the id of the command at once, and let it go on")
    .option("--no-terminal", "give the command no terminal, and keep its output")
    .passThroughOptions();
  withJson(withEnvironment(command)).action(async (words: string[], options: RunOptions) => {
    const { environments, environment } = await targetOf(session, options);
    const commands = environments.commands(environment.id);
    const openTerminal = options.detach === true || options.json === true ? null : session.io.openTerminal;
    if (options.terminal && openTerminal !== null)
      return await runInTerminal(session, commands, { command: commandOf(words), openTerminal });
    const begun = await commands.create({ command: commandOf(words) });
    if (options.detach === true) {
      const text = options.json === true ? jsonText(begun) : `${begun.data.id}\n`;
      return session.io.out(text);
    }
    await finish(session, commands, begun, options.json === true);
  });
  withExamples(command, [
    "pilvi run node scripts/import.js",
    "pilvi run bash",
    "pilvi run 'env | sort'",
    "pilvi run --detach -- npm run reindex",
  ]);
}

/** Hands the terminal over to the command. @throws CommandError when it did not end itself. */
async function runInTerminal(
  session: Session,
  commands: Commands,
  { command, openTerminal }: { command: string; openTerminal: NonNullable<Io["openTerminal"]> },
): Promise<void> {
  const { io } = session;
  const { id } = (await commands.create({ command, terminal: true })).data;
  const target = { url: await session.url(), token: await session.token(), id };
  const { exit_code: exitCode, reason } = await openRemoteTerminal(openTerminal, target, io.windowSize());
  if (exitCode === null) throw new CommandError(reason ?? "The command failed.");
  if (reason !== null) io.err(`${reason}\n`);
  io.exitWith(exitCode);
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
  let ended: CommandDocument;
  let isCut: boolean;
  try {
    ({ isCut } = await printOutput(io, commands, id, { isShown: !isJson, signal }));
    ended = await readPatiently(io, () => commands.get(id, { signal }), { signal });
  } catch (error) {
    if (!signal.aborted)
      throw isGone(error) ? error : givenUp(error, `The command goes on. Its id is ${id}.`);
    await cancel(commands, id);
    throw new CommandError("Interrupted. The command was cancelled.", 130);
  } finally {
    // A second Ctrl-C must not cut off the cancel.
    if (!signal.aborted) forget();
  }
  if (isJson) io.out(jsonText(ended));
  const { status, exit_code: exitCode, failure_reason: reason } = ended.data.attributes;
  const isUnwhole = isCut && !isJson;
  if (isUnwhole) io.err("The output is longer than Pilvi keeps, and its end is missing.\n");
  // A file with such an output must not pass for whole.
  if (status === "command.success") return isUnwhole ? io.exitWith(1) : undefined;
  if (exitCode === null) throw new CommandError(reason ?? "The command failed.");
  io.exitWith(exitCode);
}

/**
 * Prints the output until the command has ended, also over an absence of Pilvi.
 * @returns whether the rest of a long output is not kept.
 */
async function printOutput(
  io: Io,
  commands: Commands,
  id: string,
  { isShown, signal }: { isShown: boolean; signal: AbortSignal },
): Promise<{ isCut: boolean }> {
  let after: string | undefined;
  let isCut = false;
  for (let readings = 0; ; readings++) {
    const read = () => commands.output(id, { signal, ...(after !== undefined && { after }) });
    const { data, meta } = await readPatiently(io, read, { signal });
    if (isShown) for (const { text, is_open: isOpen } of data) io.out(isOpen ? text : `${text}\n`);
    isCut ||= meta.is_cut;
    if (meta.is_complete) return { isCut };
    after = meta.cursor;
    await io.pause(readings < QUICK_READINGS ? FIRST_PAUSE_MS : PAUSE_MS, signal);
  }
}

/** @throws CommandError with the exit code 130 when the command goes on. */
async function cancel(commands: Commands, id: string): Promise<void> {
  try {
    await commands.cancel(id);
  } catch (error) {
    const { message } = givenUp(error, `It goes on. Its id is ${id}.`);
    throw new CommandError(`Interrupted, but the command could not be cancelled: ${message}`, 130);
  }
}

/** Whether the environment was deleted with its commands, none of which goes on. */
function isGone(error: unknown): boolean {
  return error instanceof PilviError && error.status === 404;
}
