// The parts of an `update` command that all kinds of resources share.
import type { Command } from "commander";
import type { PilviClient, SingleDocument } from "../../sdk/index.ts";
import type { WaitOptions } from "../options.ts";
import { jsonText, type Session } from "../session.ts";
import { find } from "./find.ts";
import type { Resource, ShownKind } from "./kind.ts";
import { waitUntil } from "./wait.ts";

/** Ends the program as wrongly used when no option changes anything. */
export function requireChange(command: Command, change: object): void {
  if (Object.values(change).some((value) => value !== undefined)) return;
  command.error("error: an option must say what to change", { exitCode: 2 });
}

/** Prints a changed resource, at once or when the change is in force. @throws CommandError when that takes too long. */
export async function finishUpdate<Document extends SingleDocument<Resource>>(
  session: Session,
  kind: ShownKind<Document>,
  client: PilviClient,
  id: string,
  options: WaitOptions & { json?: true },
): Promise<void> {
  const { io } = session;
  const found = await find(kind, client, id);
  const { document, failure } =
    options.wait === true
      ? await waitUntil(session, kind, client, found, "available", options.timeout)
      : { document: found, failure: undefined };
  // Printed also after a failure, since the change has been taken.
  io.out(options.json === true ? jsonText(document) : kind.details(document));
  if (failure !== undefined) throw failure;
  if (document.data.attributes.status === "available" || kind.waitAgain === undefined) return;
  io.err(`In force when the ${kind.noun} is available. Wait for it with: ${kind.waitAgain(id)}\n`);
}
