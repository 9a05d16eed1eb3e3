// The `purge` command of the kinds that have backups.
import type { Command } from "commander";
import type { PilviClient, SingleDocument } from "../../sdk/index.ts";
import { type Session, withExamples } from "../session.ts";
import { confirm, requireAnswer, withYes, type DeleteOptions } from "./delete.ts";
import type { Named, ShownKind } from "./kind.ts";
import { deletedIdOf } from "./source.ts";

/** @param purge deletes all backups of the deleted instance with this id. @param example a name of such an instance. */
export function addPurge<Document extends SingleDocument<Named>>(
  group: Command,
  session: Session,
  kind: ShownKind<Document>,
  purge: (client: PilviClient, id: string) => Promise<void>,
  example: string,
): void {
  const command = withYes(
    group
      .command("purge")
      .description(`delete all backups of a deleted ${kind.noun}; it cannot be restored from then on`)
      .argument("<name-or-id>", `the id of the deleted ${kind.noun}, or its name`),
  ).action(async (nameOrId: string, options: Pick<DeleteOptions, "yes">) => {
    requireAnswer(command, session, options);
    const client = await session.client();
    const id = await deletedIdOf(kind, client, nameOrId);
    const title = `the backups of ${nameOrId === id ? id : `${nameOrId} (${id})`}`;
    if (options.yes !== true) await confirm(session.io, title);
    await purge(client, id);
    session.io.out(`Deleting ${title}.\n`);
  });
  withExamples(command, [`pilvi ${kind.group} purge ${example} --yes`]);
}
