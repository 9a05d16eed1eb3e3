// The commands `rotate` and `end-grace` of all kinds of resources with a password.
import { type Command, InvalidArgumentError } from "commander";
import type { PilviClient, RotationOptions, SingleDocument } from "../../sdk/index.ts";
import { nameArgument, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "./find.ts";
import { nameOf, type Resource, type ShownKind } from "./kind.ts";

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** A resource whose former password may still be valid. */
type RotatedResource = Resource & { meta: { former_credentials: { expires_at: string } | null } };

/** The requests of the commands. */
interface Rotation<Document> {
  rotate(client: PilviClient, id: string, options: RotationOptions): Promise<Document>;
  endGrace(client: PilviClient, id: string): Promise<Document>;
}

/** Adds both commands. @param example the name of a resource in examples. */
export function addRotate<Document extends SingleDocument<RotatedResource>>(
  group: Command,
  session: Session,
  kind: ShownKind<Document>,
  { rotate, endGrace }: Rotation<Document>,
  example: string,
): void {
  const command = group
    .command("rotate")
    .description(
      `give a ${kind.noun} a new password; the former one is refused a moment later, or after a time`,
    )
    .argument("<name-or-id>", nameArgument(kind.noun))
    .option(
      "--grace <time>",
      "how long the former password stays valid, such as 30m, 1h or 7d",
      graceSeconds,
    );
  withJson(command).action(async (nameOrId: string, options: { json?: true; grace?: number }) => {
    const client = await session.client();
    const { data } = await find(kind, client, nameOrId);
    const { json, grace } = options;
    const document = await rotate(client, data.id, grace === undefined ? {} : { graceSeconds: grace });
    const until = document.data.meta.former_credentials?.expires_at;
    const stays = until === undefined ? "" : ` The former password is valid until ${until}.`;
    const text = `Gave ${nameOf(kind, data)} (${data.id}) a new password, which \`show\` prints.${stays}\n`;
    session.io.out(json === true ? jsonText(document) : text);
  });
  withExamples(command, [
    `pilvi ${kind.group} rotate ${example} --grace 1h`,
    `pilvi ${kind.group} rotate ${example} --json | jq .data.attributes.connection`,
  ]);
  const end = group
    .command("end-grace")
    .description(`refuse the former password of a ${kind.noun} at once`)
    .argument("<name-or-id>", nameArgument(kind.noun));
  withJson(end).action(async (nameOrId: string, { json }: { json?: true }) => {
    const client = await session.client();
    const { data } = await find(kind, client, nameOrId);
    const document = await endGrace(client, data.id);
    const text = `${nameOf(kind, data)} (${data.id}) takes its present password alone.\n`;
    session.io.out(json === true ? jsonText(document) : text);
  });
  withExamples(end, [`pilvi ${kind.group} end-grace ${example}`]);
}

/** Reads `90s`, `30m`, `1h` or `7d`, or a number of seconds. */
function graceSeconds(text: string): number {
  const [, count = "", unit = "s"] = /^(\d{1,6})([smhd])?$/.exec(text) ?? [];
  if (count === "") throw new InvalidArgumentError("It must be a time such as 30m, 1h or 7d.");
  return Number(count) * (UNIT_SECONDS[unit] ?? 1);
}
