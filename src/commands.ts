// The commands of the `pilvi` program: the processes of a Pilvi, its tools, and the commands that use a running Pilvi.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import packageJson from "../package.json" with { type: "json" };
import {
  addResourceCommands,
  type DatabaseProgram,
  type Protocol,
  openSession,
  processIo,
  withExamples,
} from "./cli/index.ts";
import type { Config } from "./config.ts";
import { parseByteSize } from "./lib/byte-size.ts";
import { codeOf, messageOf, Refusal } from "./lib/errors.ts";
import { ORGANIZATION_NAME, TOKEN_NAME, WITHOUT_CONTROL_CHARACTERS } from "./lib/name-bounds.ts";

interface TokenOptions {
  name: string;
  abilities: string[];
  expires?: string;
  organization: string;
  maxResources?: number;
  maxMemory?: number;
  maxStorage?: number;
  maxConnections?: number;
  json?: true;
}

// Each command imports what it alone needs, so that a short command does not load a whole server.

function addProcesses(pilvi: Command): void {
  const up = pilvi
    .command("up")
    .description("start Pilvi with all that belongs to it, until Ctrl-C stops it cleanly")
    .action(async () => {
      const { upCommand } = await import("./processes/commands/up.ts");
      process.exit(await upCommand(await settings()));
    });
  withExamples(up, ["pilvi up", "PILVI_PORT=8080 PILVI_DATA_DIR=/srv/pilvi pilvi up"]);
  const control = pilvi
    .command("control")
    .description("run the API and the control loop alone, under a service manager")
    .action(async () => {
      const { controlCommand } = await import("./processes/commands/control.ts");
      process.exit(await controlCommand(await settings()));
    });
  withExamples(control, ["PILVI_DATABASE_URL=postgres://pilvi@db.example.com/pilvi pilvi control"]);
  const gateway = pilvi
    .command("gateway")
    .description("run the process that clients of databases connect to alone, under a service manager")
    .action(async () => {
      const { gatewayCommand } = await import("./processes/commands/gateway.ts");
      process.exit(await gatewayCommand(await settings()));
    });
  withExamples(gateway, ["pilvi gateway"]);
  const host = pilvi
    .command("host")
    .description("run the process that starts and watches engines alone, under a service manager")
    .action(async () => {
      const { hostCommand } = await import("./processes/commands/host.ts");
      process.exit(await hostCommand(await settings()));
    });
  withExamples(host, ["pilvi host"]);
  const keeper = pilvi
    .command("keeper")
    .description("run the process that stores backups alone, under a service manager")
    .action(async () => {
      const { keeperCommand } = await import("./processes/commands/keeper.ts");
      process.exit(await keeperCommand(await settings()));
    });
  withExamples(keeper, [
    "pilvi keeper",
    "PILVI_BACKUP_TARGETS=/mnt/backup/pilvi,s3://my-bucket pilvi keeper",
  ]);
}

function addTools(pilvi: Command): void {
  const restore = pilvi
    .command("restore-all")
    .description("bring everything back on a new machine, from a backup target and the key file")
    .requiredOption("--from <target>", "the folder, or the bucket such as s3://my-bucket/pilvi")
    .action(async ({ from }: { from: string }) => {
      const { restoreAllCommand } = await import("./processes/commands/restore-all.ts");
      process.exit(await restoreAllCommand(await settings(), from));
    });
  withExamples(restore, [
    "pilvi restore-all --from /mnt/backup/pilvi",
    "PILVI_KEY_FILE=/root/key pilvi restore-all --from s3://my-bucket/pilvi",
  ]);
  const engines = pilvi.command("engines").description("what Pilvi runs databases and caches with");
  const install = engines
    .command("install")
    .description("install the engines that are missing, below the data directory and without root")
    .action(async () => {
      const { installCommand } = await import("./processes/commands/engines.ts");
      process.exitCode = await installCommand(await settings());
    });
  withExamples(install, ["pilvi engines install", "PILVI_ENGINES_DIR=/opt/engines pilvi engines install"]);
  withExamples(engines, ["pilvi engines install"]);
  const doctor = pilvi
    .command("doctor")
    .description("check what Pilvi relies on, and print what to do about faults")
    .action(async () => {
      const { doctorCommand } = await import("./processes/commands/engines.ts");
      process.exitCode = await doctorCommand(await settings());
    });
  withExamples(doctor, ["pilvi doctor"]);
  const authority = pilvi
    .command("ca")
    .description("print the certificate authority that clients of databases verify Pilvi with")
    .action(async () => {
      const { readAuthority } = await import("./processes/tls/certificate-authority.ts");
      process.stdout.write(readAuthority(await settings()));
    });
  withExamples(authority, ["pilvi ca > pilvi-ca.crt"]);
}

function addTokens(pilvi: Command): void {
  const tokens = pilvi.command("token").description("create, list and revoke access tokens");
  const create = tokens
    .command("create")
    .description("create a token and print it, this once")
    .requiredOption("--name <name>", "what it is for", nameOf(TOKEN_NAME))
    .addOption(
      new Option("--abilities <abilities>", "what it may do, with commas between")
        .argParser(words)
        .default(["*"], "*, which is everything"),
    )
    .option("--expires <when>", "after 12h, 30d or 1y, or on a date such as 2027-01-31", expiry)
    .addOption(
      new Option("--organization <name>", "whose resources it is for")
        .argParser(nameOf(ORGANIZATION_NAME))
        .default("default"),
    )
    .option("--max-resources <number>", "how many resources it may order", limit)
    .option("--max-memory <size>", "how much memory they may have in all, such as 2gb", sizeLimit)
    .option("--max-storage <size>", "with how much on the disk it may order no more, such as 50gb", sizeLimit)
    .option("--max-connections <number>", "how many connections its clusters may have in all", limit)
    .option("--json", "print JSON")
    .action(async (options: TokenOptions) => {
      const { tokenCreate } = await import("./processes/commands/token.ts");
      process.exitCode = await tokenCreate(await settings(), { ...options, json: options.json === true });
    });
  withExamples(create, [
    "pilvi token create --name laptop",
    "pilvi token create --name dashboard --abilities caches:read,databases:read --expires 30d",
    "pilvi token create --name students --organization school --max-resources 20 --max-memory 8gb",
  ]);
  const list = tokens
    .command("list")
    .description("list tokens, without what they are")
    .option("--json", "print JSON")
    .action(async (options: { json?: true }) => {
      const { tokenList } = await import("./processes/commands/token.ts");
      process.exitCode = await tokenList(await settings(), { json: options.json === true });
    });
  withExamples(list, ["pilvi token list", "pilvi token list --json"]);
  const revoke = tokens
    .command("revoke")
    .description("revoke a token at once")
    .argument("<id-or-name>")
    .action(async (idOrName: string) => {
      const { tokenRevoke } = await import("./processes/commands/token.ts");
      process.exitCode = await tokenRevoke(await settings(), idOrName);
    });
  withExamples(revoke, ["pilvi token revoke laptop"]);
  withExamples(tokens, ["pilvi token create --name laptop", "pilvi token revoke laptop"]);
}

function addConsole(pilvi: Command): void {
  const console = pilvi.command("console").description("come into the web console");
  const link = console
    .command("link")
    .description("print a link that sets a new password and signs in, once and within an hour")
    .option("--email <address>", "whose account, where there are several")
    .action(async (options: { email?: string }) => {
      const { consoleLinkCommand } = await import("./processes/commands/console.ts");
      process.exitCode = await consoleLinkCommand(await settings(), options);
    });
  withExamples(link, ["pilvi console link", "pilvi console link --email ada@example.com"]);
  withExamples(console, ["pilvi console link"]);
}

/** Adds to `pilvi backups` what the keeper of this machine does. */
function addBackupTools(pilvi: Command): void {
  const backups = pilvi.commands.find((command) => command.name() === "backups");
  const check = backups
    ?.command("check")
    .description("read everything that is stored at all targets back, and name what is damaged")
    .action(async () => {
      const { checkBackupsCommand } = await import("./processes/commands/backups.ts");
      process.exitCode = await checkBackupsCommand(await settings());
    });
  if (check !== undefined) withExamples(check, ["pilvi backups check"]);
}

function words(text: string): string[] {
  const list = text.split(",").map((word) => word.trim());
  if (list.includes("")) throw new InvalidArgumentError("An ability is empty.");
  return list;
}

/** Reads a name within the bounds that the API has for it. */
function nameOf({ min, max }: { min: number; max: number }): (text: string) => string {
  return (text) => {
    const name = text.trim();
    const isFitting = name.length >= min && name.length <= max;
    if (isFitting && WITHOUT_CONTROL_CHARACTERS.test(name)) return name;
    throw new InvalidArgumentError(`It must have ${min} to ${max} characters, without control characters.`);
  };
}

function limit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number, 1 or more.");
}

function sizeLimit(text: string): number {
  const bytes = parseByteSize(text);
  if (bytes !== undefined && bytes > 0) return bytes;
  throw new InvalidArgumentError("It must be a size such as 500mb or 2.5gb.");
}

function expiry(text: string): string {
  const isDuration = /^[1-9]\d*[hdy]$/.test(text);
  const isDate = /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text));
  if (isDuration || isDate) return text;
  throw new InvalidArgumentError("It must be a time such as 12h, 30d or 1y, or an ISO date.");
}

async function settings(): Promise<Config> {
  const { loadConfig } = await import("./config.ts");
  return loadConfig(process.env);
}

/** The address of the Pilvi that commands use, with a token for it. */
async function connect(): Promise<{ url: string; token: string }> {
  const { loadClientConfig } = await import("./config.ts");
  const { url, token, dataDir, isLocal } = loadClientConfig(process.env);
  if (token !== undefined) return { url, token };
  if (!isLocal) throw new Refusal(`Set PILVI_TOKEN to a token of ${url}. The stored one is not sent there.`);
  return { url, token: await storedToken(join(dataDir, "token")) };
}

/** The program that opens sessions with databases of this protocol. */
async function findProgram(protocol: Protocol): Promise<DatabaseProgram> {
  const { loadClientConfig } = await import("./config.ts");
  const { findDatabaseProgram } = await import("./processes/bootstrap/database-programs.ts");
  return findDatabaseProgram(protocol, loadClientConfig(process.env).enginesDir, process.env.PATH ?? "");
}

async function storedToken(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") {
      throw new Refusal(
        `There is no token. Set PILVI_TOKEN, or start Pilvi with \`npm start\`, which writes one to ${file}`,
        error,
      );
    }
    if (codeOf(error) === "EACCES") {
      throw new Refusal(
        `The token in ${file} may not be read. Run this as the user who runs Pilvi, or set PILVI_TOKEN.`,
        error,
      );
    }
    throw new Refusal(`The token in ${file} cannot be read: ${messageOf(error)}.`, error);
  }
}

/** The program with all its commands; each error that a command throws reaches the caller of `parseAsync`. */
export function createProgram(): Command {
  const pilvi = new Command("pilvi")
    .description("A cloud of your own: applications, databases, caches and WebSocket clusters.")
    .version(packageJson.version)
    .showHelpAfterError("Add --help to see what is possible.")
    // So that a command may have an option `--version` of its own.
    .enablePositionalOptions()
    .exitOverride();
  addProcesses(pilvi);
  addTools(pilvi);
  addTokens(pilvi);
  addConsole(pilvi);
  addResourceCommands(pilvi, openSession(processIo(), connect, findProgram));
  addBackupTools(pilvi);
  withExamples(pilvi, [
    "pilvi up",
    "pilvi deploy",
    "pilvi databases create orders --wait",
    "pilvi help caches create",
  ]);
  return pilvi;
}
