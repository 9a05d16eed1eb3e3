// The steps after a create, for all kinds: waiting where `--wait` asks for it, and printing the result.
import type { PilviClient, SingleDocument } from "../../sdk/index.ts";
import type { WaitOptions } from "../options.ts";
import { jsonText, type Session } from "../session.ts";
import type { Kind, Resource, ShownKind } from "./kind.ts";
import { waitUntil } from "./wait.ts";

/** Prints a new resource, at once or when it can be used. @throws CommandError when it cannot be used in time. */
export async function finishCreate<Document extends SingleDocument<Resource>>(
  session: Session,
  kind: ShownKind<Document>,
  client: PilviClient,
  created: Document,
  options: WaitOptions & { json?: true },
): Promise<void> {
  const { io } = session;
  const isJson = options.json === true;
  if (options.wait !== true) {
    io.out(isJson ? jsonText(created) : kind.details(created) + kind.firstTry(created));
    io.err(`Being created. ${laterHint(kind, created.data.id)}\n`);
    return;
  }
  const result = await waitUntil(session, kind, client, created, "available", options.timeout);
  // Printed also when the wait ends early, by whatever, so that a program learns the id of the new resource.
  io.out(isJson ? jsonText(result.document) : kind.details(result.document));
  if (result.failure !== undefined) throw result.failure;
  if (!isJson) io.out(kind.firstTry(result.document));
}

function laterHint(
  { waitAgain, showCommand }: Pick<Kind<never>, "waitAgain" | "showCommand">,
  id: string,
): string {
  if (waitAgain === undefined) return `Look at it with: ${showCommand(id)}`;
  return `Wait for it with: ${waitAgain(id)}`;
}
