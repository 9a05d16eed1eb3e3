// The output of a command: parts of it while it runs, and its end for the row.
import { lineText } from "../../../contracts/builds.ts";
import { notFound } from "../../../api/jsonapi/errors.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import { storableText } from "../../../lib/storable.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { StreamPlaces } from "../../shared/stream-places.ts";
import { KIND } from "../create.ts";
import { commandParams } from "../params.ts";
import { commandOutput, commandOutputQuery, type CommandOutput } from "./schema.ts";
import { findCommand, type CommandRow, type CommandEnd } from "./store.ts";

/** The name of the step that the host runs. */
export const COMMAND_STEP = "command";

/** The most characters of output that a row has. */
const KEPT_CHARACTERS = 64 * 1024;

/** How long an answer is held while there is no further output. */
const WAIT_MS = 10_000;

/** The same before the host has the command. */
const UNKNOWN_WAIT_MS = 100;

/** The operation that reads the output of a command. */
export function outputOperation(context: KindContext): Operation {
  const places = new StreamPlaces("the output of commands");
  return operation({
    method: "GET",
    path: "/commands/:id/output",
    operationId: "readCommandOutput",
    tag: "Commands",
    summary: "Read the output of a command",
    description:
      "The lines after `after`, also while the command runs; the answer is held for some seconds while there are none. The first megabyte is kept, in which each line counts 64 bytes more, and without the values of secret variables.",
    ability: `${KIND}:credentials`,
    params: commandParams,
    query: commandOutputQuery,
    success: {
      status: 200,
      description: "Lines of output.",
      schema: commandOutput,
      contentType: "application/json",
    },
    async handle({ principal, params, query, signal }) {
      const find = () => findCommand(context.db, principal.organizationId, params.id);
      const command = await find();
      if (command === undefined) throw notFound("command");
      const end = places.take(principal);
      try {
        const { driver } = context.hosts.of(command.hostId);
        return { document: await readOutput({ driver, command, find }, query.after ?? 0, signal) };
      } finally {
        end();
      }
    },
  });
}

type Driver = ServedHost["driver"];

interface Read {
  driver: Driver;
  command: CommandRow;
  find(): Promise<CommandRow | undefined>;
}

async function readOutput(
  { driver, command, find }: Read,
  after: number,
  signal: AbortSignal,
): Promise<CommandOutput> {
  if ((await driver.observeBuild(command.id)) === null) return await withoutHost(command, after);
  const slice = await driver.buildLog(command.id, { after, waitMs: WAIT_MS }, signal);
  const lines = slice.lines.filter(({ step }) => step === COMMAND_STEP);
  // The row has the end a moment later, and readers of the end want its exit code.
  const isComplete = slice.isEnd && (await find())?.finishedAt !== null;
  const kept = lines.filter(({ isCut }) => isCut !== true);
  return {
    data: kept.map(({ at, text, isOpen = false }) => ({ text, is_open: isOpen, logged_at: at })),
    meta: { cursor: String(slice.next), is_complete: isComplete, is_cut: kept.length < lines.length },
  };
}

/** The host does not have the command yet, or any more. */
async function withoutHost(
  { output, isOutputCut, finishedAt }: CommandRow,
  after: number,
): Promise<CommandOutput> {
  if (finishedAt === null) await Bun.sleep(UNKNOWN_WAIT_MS);
  const lines = after > 0 || !output ? [] : output.replace(/\n$/, "").split("\n");
  return {
    data: lines.map((text) => ({ text, is_open: false, logged_at: finishedAt ?? "" })),
    meta: { cursor: String(after), is_complete: finishedAt !== null, is_cut: isOutputCut },
  };
}

/** The end of the output of a command that has ended. */
export async function outputEnd(
  driver: Driver,
  id: string,
  signal: AbortSignal,
): Promise<Pick<CommandEnd, "output" | "isOutputCut">> {
  let [output, isOutputCut] = ["", false];
  for (let after = 0; ;) {
    const slice = await driver.buildLog(id, { after }, signal);
    if (slice.lines.length === 0) break;
    const lines = slice.lines.filter(({ step, isCut }) => step === COMMAND_STEP && isCut !== true);
    isOutputCut ||= slice.lines.some(({ isCut }) => isCut === true);
    output += lines.map(lineText).join("");
    isOutputCut ||= output.length > KEPT_CHARACTERS;
    output = output.slice(-KEPT_CHARACTERS);
    after = slice.next;
  }
  return { output: storableText(output), isOutputCut };
}
