// The `show` command of all kinds of resources.
import type { Command } from "commander";
import type { SingleDocument } from "../../sdk/index.ts";
import { nameArgument, withJson, withWait, type WaitOptions } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "./find.ts";
import type { Resource, ShownKind } from "./kind.ts";
import { waitUntil } from "./wait.ts";

interface ShowOptions extends WaitOptions {
  json?: true;
}

/** Adds the command. */
export function addShow<Document extends SingleDocument<Resource>>(
  group: Command,
  session: Session,
  kind: ShownKind<Document>,
  examples: string[],
): void {
  const command = group
    .command("show")
    .description(`show a ${kind.noun} and how to connect to it`)
    .argument("<name-or-id>", nameArgument(kind.noun));
  withWait(withJson(command), "it can be used").action(async (nameOrId: string, options: ShowOptions) => {
    await show(session, kind, nameOrId, options);
  });
  withExamples(command, examples);
}

async function show<Document extends SingleDocument<Resource>>(
  session: Session,
  kind: ShownKind<Document>,
  nameOrId: string,
  options: ShowOptions,
): Promise<void> {
  const client = await session.client();
  const found = await find(kind, client, nameOrId);
  const { document, failure } =
    options.wait === true
      ? await waitUntil(session, kind, client, found, "available", options.timeout)
      : { document: found, failure: undefined };
  session.io.out(options.json === true ? jsonText(document) : kind.details(document));
  if (failure !== undefined) throw failure;
}
