// `pilvi tokens`: tokens of the organization, through the API.
import type { Command } from "commander";
import type { NewToken, PilviClient, TokenResource } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import type { Io } from "../io.ts";
import { writeList } from "../list-text.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { expiry } from "./expiry.ts";

interface CreateOptions {
  abilities: string;
  expires?: string;
  json?: true;
}

/** Adds the commands. */
export function addTokens(program: Command, session: Session): void {
  const group = program.command("tokens").description("create, list and revoke tokens through the API");
  addCreate(group, session);
  const list = group.command("list").description("list the tokens that are not revoked, the newest first");
  withJson(list).action(async ({ json }: { json?: true }) => {
    const tokens = await allTokens(await session.client());
    if (json === true) return session.io.out(jsonText({ data: tokens }));
    writeTokens(session.io, tokens);
  });
  withExamples(list, ["pilvi tokens list", "pilvi tokens list --json | jq .data[].attributes.name"]);
  const revoke = group
    .command("revoke")
    .description("revoke a token at once")
    .argument("<name-or-id>", "an id, or a name that only one token has")
    .action(async (nameOrId: string) => {
      const client = await session.client();
      const { id, attributes } = await findToken(client, nameOrId);
      await client.tokens.delete(id);
      session.io.out(`Revoked ${attributes.name} (${id}).\n`);
    });
  withExamples(revoke, ["pilvi tokens revoke laptop"]);
  withExamples(group, ["pilvi tokens create laptop --abilities caches:read", "pilvi tokens revoke laptop"]);
}

function addCreate(group: Command, session: Session): void {
  const create = group
    .command("create")
    .description("create a token that is no more able than the present one, and print it, this once")
    .argument("<name>", "the purpose of the token")
    .option("--abilities <abilities>", "what it may do, with commas between", "*")
    .option("--expires <when>", "after 12h, 30d or 1y, or on a date such as 2027-01-31", expiry);
  withJson(create).action(async (name: string, { abilities, expires, json }: CreateOptions) => {
    const body: NewToken = {
      name,
      abilities: abilities.split(",").map((each) => each.trim()),
      ...(expires !== undefined && { expires_at: expires }),
    };
    const document = await (await session.client()).tokens.create(body);
    session.io.out(json === true ? jsonText(document) : `${document.data.attributes.token ?? ""}\n`);
  });
  withExamples(create, [
    "pilvi tokens create laptop",
    "pilvi tokens create dashboard --abilities caches:read,databases:read --expires 30d",
  ]);
}

async function allTokens(client: PilviClient): Promise<TokenResource[]> {
  return await Array.fromAsync(client.tokens.all());
}

/** @throws CommandError when there is no such token or more than one. */
async function findToken(client: PilviClient, nameOrId: string): Promise<TokenResource> {
  const found = (await allTokens(client)).filter(
    ({ id, attributes }) => id === nameOrId || attributes.name === nameOrId,
  );
  const [token] = found;
  if (token === undefined) throw new CommandError(`There is no token ${nameOrId}.`);
  if (found.length === 1) return token;
  throw new CommandError(
    `${found.length} tokens are named ${nameOrId}; give an id: ${found.map(({ id }) => id).join(", ")}`,
  );
}

function writeTokens(io: Io, tokens: TokenResource[]): void {
  const rows = tokens.map(({ id, attributes }) => [
    attributes.name,
    attributes.abilities.join(","),
    attributes.created_by ?? "",
    attributes.last_used_at ?? "never",
    attributes.expires_at ?? "never",
    id,
  ]);
  writeList(io, ["NAME", "ABILITIES", "MADE BY", "LAST USED", "EXPIRES", "ID"], rows);
}
