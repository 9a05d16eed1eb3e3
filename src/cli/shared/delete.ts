// The parts of a `delete` command that all kinds of resources share.
import type { Command } from "commander";
import type { PilviClient, SingleDocument } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import type { Io } from "../io.ts";
import { nameArgument, withWait, type WaitOptions } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { find } from "./find.ts";
import { type Kind, type Named, nameOf, type Resource, type ShownKind } from "./kind.ts";
import { waitUntil } from "./wait.ts";

/** The values of the options of `delete`. */
export interface DeleteOptions extends WaitOptions {
  yes?: true;
}

/** Adds the command to a group whose resources need only a name or an id. */
export function addDelete<Document extends SingleDocument<Resource>>(
  group: Command,
  session: Session,
  kind: ShownKind<Document>,
  examples: string[],
): void {
  const command = group
    .command("delete")
    .description(`delete a ${kind.noun} and everything in it`)
    .argument("<name-or-id>", nameArgument(kind.noun));
  withConfirmation(command).action(async (nameOrId: string, options: DeleteOptions) => {
    requireAnswer(command, session, options);
    await deleteFound(session, kind, nameOrId, options);
  });
  withExamples(command, examples);
}

/** Adds the options of `delete`. */
export function withConfirmation(command: Command): Command {
  return withWait(withYes(command), "it is gone");
}

/** Adds the option of `delete` for what is gone at once. */
export function withYes(command: Command): Command {
  return command.option("--yes", "do not ask; required where nobody can answer");
}

/** Ends the program as wrongly used when it would have to ask and cannot. */
export function requireAnswer(command: Command, { io }: Session, options: Pick<DeleteOptions, "yes">): void {
  if (options.yes === true || io.isInputTerminal) return;
  command.error("error: nobody can be asked here, so the option --yes is required", { exitCode: 2 });
}

/** Finds a resource, asks about it and deletes it. @throws CommandError when nothing was deleted. */
export async function deleteFound<Document extends SingleDocument<Resource>>(
  session: Session,
  kind: Kind<Document>,
  nameOrId: string,
  options: DeleteOptions,
): Promise<void> {
  const client = await session.client();
  await deleteOne(session, { kind, client, nameOrId, options }, async (document) => {
    return (await waitUntil(session, kind, client, document, "deleted", options.timeout)).failure;
  });
}

/**
 * Finds anything with a name, asks about it and deletes it.
 * @param wait carries out `--wait`; its failure is the command's.
 * @throws CommandError when nothing was deleted.
 */
export async function deleteOne<Document extends SingleDocument<Named>>(
  { io }: Session,
  request: { kind: Kind<Document>; client: PilviClient; nameOrId: string; options: DeleteOptions },
  wait: (document: Document) => Promise<CommandError | undefined>,
): Promise<void> {
  const { kind, client, nameOrId, options } = request;
  const document = await find(kind, client, nameOrId);
  const title = `${nameOf(kind, document.data)} (${document.data.id})`;
  if (options.yes !== true) await confirm(io, title);
  await kind.requests(client).delete(document.data.id);
  if (options.wait !== true) {
    io.out(`Deleting ${title}.\n`);
    return;
  }
  const failure = await wait(document);
  if (failure !== undefined) throw failure;
  io.out(`Deleted ${title}.\n`);
}

/** Asks whether to delete something. @throws CommandError when nothing is to be deleted. */
export async function confirm(io: Io, title: string): Promise<void> {
  const answer = await io.ask(`Delete ${title} with everything in it? [y/N] `);
  if (!/^y(es)?$/i.test(answer?.trim() ?? "")) throw new CommandError("Nothing was deleted.");
}
