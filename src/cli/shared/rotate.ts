// The `rotate` command of all kinds of resources with a password.
import type { Command } from "commander";
import type { PilviClient, SingleDocument } from "../../sdk/index.ts";
import { nameArgument, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "./find.ts";
import { nameOf, type Resource, type ShownKind } from "./kind.ts";

/** Adds the command. */
export function addRotate<Document extends SingleDocument<Resource>>(
  group: Command,
  session: Session,
  kind: ShownKind<Document>,
  rotate: (client: PilviClient, id: string) => Promise<Document>,
  examples: string[],
): void {
  const command = group
    .command("rotate")
    .description(`give a ${kind.noun} a new password; the former one is refused a moment later`)
    .argument("<name-or-id>", nameArgument(kind.noun));
  withJson(command).action(async (nameOrId: string, { json }: { json?: true }) => {
    const client = await session.client();
    const { data } = await find(kind, client, nameOrId);
    const document = await rotate(client, data.id);
    session.io.out(
      json === true
        ? jsonText(document)
        : `Gave ${nameOf(kind, data)} (${data.id}) a new password, which \`show\` prints.\n`,
    );
  });
  withExamples(command, examples);
}
