// `pilvi members`: the members of the organization, and invitations into it.
import { type Command, Option } from "commander";
import type { MemberResource, PilviClient, Role } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import type { Io } from "../io.ts";
import { writeList } from "../list-text.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { requireAnswer, withYes } from "../shared/delete.ts";

interface InviteOptions {
  role: Role;
  email?: string;
  json?: true;
}

/** Adds the commands. */
export function addMembers(program: Command, session: Session): void {
  const group = program.command("members").description("list, invite and remove members of the organization");
  const list = group.command("list").description("list the members, by name");
  withJson(list).action(async ({ json }: { json?: true }) => {
    const members = await allMembers(await session.client());
    if (json === true) return session.io.out(jsonText({ data: members }));
    writeMembers(session.io, members);
  });
  withExamples(list, ["pilvi members list"]);
  addInvite(group, session);
  addRemove(group, session);
  withExamples(group, ["pilvi members invite --role developer", "pilvi members remove ada@example.com"]);
}

function addInvite(group: Command, session: Session): void {
  const invite = group
    .command("invite")
    .description("print a link that makes its reader a member, once and within seven days")
    .addOption(
      new Option("--role <role>", "what the member may do")
        .choices(["admin", "developer", "viewer"])
        .makeOptionMandatory(),
    )
    .option("--email <address>", "the only address that may accept");
  withJson(invite).action(async ({ role, email, json }: InviteOptions) => {
    const client = await session.client();
    const document = await client.invitations.create({ role, ...(email !== undefined && { email }) });
    session.io.out(json === true ? jsonText(document) : `${document.data.attributes.link ?? ""}\n`);
  });
  withExamples(invite, [
    "pilvi members invite --role developer",
    "pilvi members invite --role viewer --email ada@example.com",
  ]);
}

function addRemove(group: Command, session: Session): void {
  const remove = withYes(
    group
      .command("remove")
      .description(
        "take a member out of the organization at once, and revoke the tokens that the member made",
      )
      .argument("<email-or-id>", "the e-mail address or the id of the member"),
  ).action(async (emailOrId: string, options: { yes?: true }) => {
    requireAnswer(remove, session, options);
    const { io } = session;
    const client = await session.client();
    const { id, attributes } = await findMember(client, emailOrId);
    const answer = options.yes === true ? "y" : await io.ask(`Remove ${attributes.email}? [y/N] `);
    if (!/^y(es)?$/i.test(answer?.trim() ?? "")) throw new CommandError("Nobody was removed.");
    await client.members.delete(id);
    io.out(`Removed ${attributes.email}.\n`);
  });
  withExamples(remove, ["pilvi members remove ada@example.com --yes"]);
}

async function allMembers(client: PilviClient): Promise<MemberResource[]> {
  return await Array.fromAsync(client.members.all());
}

/** @throws CommandError when there is no such member. */
async function findMember(client: PilviClient, emailOrId: string): Promise<MemberResource> {
  const members = await allMembers(client);
  const wanted = emailOrId.toLowerCase();
  const found = members.find(({ id, attributes }) => id === emailOrId || attributes.email === wanted);
  if (found === undefined) throw new CommandError(`There is no member ${emailOrId}.`);
  return found;
}

function writeMembers(io: Io, members: MemberResource[]): void {
  const rows = members.map(({ id, attributes }) => [
    attributes.name,
    attributes.email,
    attributes.role,
    attributes.created_at,
    id,
  ]);
  writeList(io, ["NAME", "EMAIL", "ROLE", "SINCE", "ID"], rows);
}
