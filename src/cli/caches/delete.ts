// `pilvi caches delete`.
import type { Command } from "commander";
import type { CacheResource } from "../../sdk/index.ts";
import { CommandFailure } from "../failure.ts";
import { withWait, type WaitOptions } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { findCache } from "./find.ts";
import { waitForDeleted } from "./wait.ts";

interface DeleteOptions extends WaitOptions {
  yes?: true;
}

/** Adds the command. */
export function addDelete(caches: Command, session: Session): void {
  const command = caches
    .command("delete")
    .description("delete a cache and everything in it")
    .argument("<name-or-id>", "an id, or a name that only one cache has")
    .option("--yes", "do not ask; required where nobody can answer");
  withWait(command, "it is gone").action(async (nameOrId: string, options: DeleteOptions) => {
    if (options.yes !== true && !session.io.isInputTerminal) {
      command.error("error: nobody can be asked here, so the option --yes is required", { exitCode: 2 });
    }
    await deleteCache(session, nameOrId, options);
  });
  withExamples(command, ["pilvi caches delete sessions", "pilvi caches delete sessions --yes --wait"]);
}

async function deleteCache(session: Session, nameOrId: string, options: DeleteOptions): Promise<void> {
  const { io } = session;
  const client = await session.client();
  const document = await findCache(client, nameOrId);
  if (options.yes !== true) await confirm(session, document.data);
  await client.caches.delete(document.data.id);
  if (options.wait !== true) {
    io.out(`Deleting ${titleOf(document.data)}.\n`);
    return;
  }
  const { failure } = await waitForDeleted(io, client, document, options.timeout);
  if (failure !== undefined) throw failure;
  io.out(`Deleted ${titleOf(document.data)}.\n`);
}

/** @throws CommandFailure when the answer is anything but yes. */
async function confirm({ io }: Session, cache: CacheResource): Promise<void> {
  const answer = await io.ask(`Delete ${titleOf(cache)} with everything in it? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure("Nothing was deleted.");
}

function titleOf({ id, attributes }: CacheResource): string {
  return `the cache ${attributes.name} (${id})`;
}
