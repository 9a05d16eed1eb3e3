// `pilvi apps set-repository`: where the commits of an application are fetched from, and with which login.
import type { Command } from "commander";
import type { ApplicationChange } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import type { Io } from "../io.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import { applicationKind } from "./kind.ts";

interface Options {
  username?: string;
  /** False with `--no-password`. */
  password?: boolean;
  json?: true;
}

/** Adds the command. */
export function addSetRepository(apps: Command, session: Session, application: string): void {
  const command = apps
    .command("set-repository")
    .description("have an application fetch its commits from a repository")
    .argument("<name-or-id>", application)
    .argument("<address>", "https://…, ssh://… or git@host:path")
    .option("--username <name>", "the user at an https:// address (default: git)")
    .option("--password", "ask for the password or token of an https:// address, or read it from stdin")
    .option("--no-password", "forget the password");
  withJson(command).action(async (nameOrId: string, address: string, options: Options) => {
    const client = await session.client();
    const { data } = await find(applicationKind, client, nameOrId);
    const document = await client.applications.update(data.id, await changeOf(session.io, address, options));
    if (options.json === true) return session.io.out(jsonText(document));
    const { deploy_key: key, repository_username: user } = document.data.meta;
    const login = user === null ? "" : `, as ${user}`;
    session.io.out(`${data.attributes.name} is fetched from ${address}${login} at its next deployment.\n`);
    if (key !== null) session.io.out(`Add this deploy key at the host, for reading:\n${key}\n`);
  });
  withExamples(command, [
    "pilvi apps set-repository web-shop git@git.example.com:shop/web.git",
    "pilvi apps set-repository web-shop https://git.example.com/shop/web.git --password",
    "pilvi apps set-repository web-shop https://git.example.com/shop/web.git --password < token",
  ]);
}

async function changeOf(
  io: Io,
  repository: string,
  { username, password }: Options,
): Promise<ApplicationChange> {
  return {
    repository,
    ...(username !== undefined && { repository_username: username }),
    ...(password === true && { repository_password: await passwordFrom(io) }),
    ...(password === false && { repository_password: null }),
  };
}

/** The password is no argument of the program, since other users of the machine see those. */
async function passwordFrom(io: Io): Promise<string> {
  const text = io.isInputTerminal ? await io.askHidden("Password or token: ") : await io.readInput();
  const password = text.replace(/\r?\n$/, "");
  if (password === "") throw new CommandError("No password was given, and nothing was changed.");
  return password;
}
