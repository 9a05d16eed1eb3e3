// The `suspend` command of all kinds of resources that may sleep.
import type { Command } from "commander";
import type { PilviClient, SingleDocument } from "../../sdk/index.ts";
import { nameArgument, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "./find.ts";
import { nameOf, type Resource, type ShownKind } from "./kind.ts";

/** Adds the command. */
export function addSuspend<Document extends SingleDocument<Resource>>(
  group: Command,
  session: Session,
  kind: ShownKind<Document>,
  suspend: (client: PilviClient, id: string) => Promise<Document>,
  examples: string[],
): void {
  const command = group
    .command("suspend")
    .description(`put a ${kind.noun} to sleep at once; the next client that logs in wakes it`)
    .argument("<name-or-id>", nameArgument(kind.noun));
  withJson(command).action(async (nameOrId: string, { json }: { json?: true }) => {
    const client = await session.client();
    const { data } = await find(kind, client, nameOrId);
    const document = await suspend(client, data.id);
    session.io.out(json === true ? jsonText(document) : `Put ${nameOf(kind, data)} (${data.id}) to sleep.\n`);
  });
  withExamples(command, examples);
}
