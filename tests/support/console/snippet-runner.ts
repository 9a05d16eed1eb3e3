// Runs snippets of the console as a reader would: pasted into a file or a shell, with the real client.
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PROGRAMS_HOME, runProgram } from "../clients/programs.ts";
import { PHP } from "../clients/php.ts";
import type { SnippetClients } from "../clients/snippet-clients.ts";

/** The file of trusted certificates that snippets name on Debian and its relatives. */
const TRUSTED = "/etc/ssl/certs/ca-certificates.crt";

const PROGRAMS = join(PROGRAMS_HOME, "bin");

/** What a snippet is run with. */
export interface SnippetRunnerOptions {
  clients: SnippetClients;
  /** A folder for its files, which is deleted with all in it by `close`. */
  folder: string;
  /** A file with the certificates that the machine trusts, in the place of the system's own. */
  trusted: string;
  /** Folders of further programs, and what those need. */
  programs: string[];
  env: Record<string, string>;
}

export class SnippetRunner {
  readonly #options: SnippetRunnerOptions;
  #count = 0;

  constructor(options: SnippetRunnerOptions) {
    this.#options = options;
  }

  /** Runs a line of a shell. @param rest what a reader would type after it. */
  async shell(text: string, rest = ""): Promise<string> {
    return await this.#run(["sh", "-c", `${text} ${rest}`]);
  }

  async node(text: string): Promise<string> {
    return await this.#run(["node", await this.#file("snippet.mjs", text)]);
  }

  async python(text: string): Promise<string> {
    return await this.#run([this.#options.clients.python, await this.#file("snippet.py", text)]);
  }

  /** The client for servers trusts the authorities of a file of its own, whose place the trusted file takes. */
  async pythonServer(text: string): Promise<string> {
    const lines = ["import os, pusher.requests", "pusher.requests.CERT_PATH = os.environ['SSL_CERT_FILE']"];
    const customization = await this.#file("sitecustomize.py", lines.join("\n"));
    const file = await this.#file("snippet.py", text);
    return await this.#run([this.#options.clients.python, file], { PYTHONPATH: dirname(customization) });
  }

  async php(text: string): Promise<string> {
    if (PHP === null) throw new Error("The snippets for PHP are tested with php, which is missing here.");
    return await this.#run([PHP, await this.#file("snippet.php", text.replaceAll(TRUSTED, this.#trusted))]);
  }

  /** Connects as Laravel does with these settings: by PDO, with the options of its `config/database.php`. */
  async laravelDatabase(text: string): Promise<string> {
    const settings = settingsIn(text);
    const setting = (name: string) => settings[`DB_${name}`] ?? "";
    const address = `host=${setting("HOST")};port=${setting("PORT")};dbname=${setting("DATABASE")}`;
    const mode = settings.DB_SSLMODE === undefined ? "" : `;sslmode=${settings.DB_SSLMODE}`;
    const authority = settings.MYSQL_ATTR_SSL_CA;
    const options = authority === undefined ? "[]" : `[PDO::MYSQL_ATTR_SSL_CA => "${authority}"]`;
    const login = `"${setting("USERNAME")}", "${setting("PASSWORD")}"`;
    return await this.php(`<?php
$database = new PDO("${setting("CONNECTION")}:${address}${mode}", ${login}, ${options});
echo $database->query("select 'hello'")->fetchColumn();`);
  }

  /** Connects as Laravel does with these settings, by the extension `redis`. */
  async laravelCache(text: string): Promise<string> {
    const settings = settingsIn(text);
    const setting = (name: string) => settings[`REDIS_${name}`] ?? "";
    const host = setting("SCHEME") === "tls" ? `tls://${setting("HOST")}` : setting("HOST");
    return await this.php(`<?php
$cache = new Redis();
$cache->connect("${host}", ${setting("PORT")});
$cache->auth(["${setting("USERNAME")}", "${setting("PASSWORD")}"]);
echo $cache->rawCommand("ECHO", "hello");`);
  }

  /** Connects as an application with Prisma does, whose `.env` has these settings. */
  async prisma(text: string, adapter: "pg" | "mariadb"): Promise<string> {
    const isPostgres = adapter === "pg";
    const provider = isPostgres ? "postgresql" : "mysql";
    const maker = isPostgres ? "PrismaPg({ connectionString: url })" : "PrismaMariaDb(url)";
    const file = await this.#file(
      "snippet.ts",
      `import { ${maker.slice(0, maker.indexOf("("))} } from '@prisma/adapter-${adapter}';
import { PrismaClient } from '${this.#options.clients.node}/prisma-${provider}/client.ts';

const url = process.env.DATABASE_URL;
const prisma = new PrismaClient({ adapter: new ${maker} });
const [row] = await prisma.$queryRaw\`select 'hello' as greeting\`;
console.log(row.greeting);
await prisma.$disconnect();`,
    );
    return await this.#run([process.execPath, file], settingsIn(text));
  }

  /** Publishes as Laravel does with these settings, by the client that speaks the same HTTP API in Node. */
  async laravelBroadcast(text: string): Promise<string> {
    const settings = settingsIn(text);
    const setting = (name: string) => JSON.stringify(settings[`PUSHER_${name}`] ?? "");
    return await this.node(`import Pusher from 'pusher';

const pusher = new Pusher({
  appId: ${setting("APP_ID")}, key: ${setting("APP_KEY")}, secret: ${setting("APP_SECRET")},
  host: ${setting("HOST")}, port: ${setting("PORT")}, useTLS: ${settings.PUSHER_SCHEME === "https"},
});
await pusher.trigger("news", "greeting", { text: "hello" });`);
  }

  /** Bundles a snippet for a browser. */
  async bundle(text: string): Promise<string> {
    const entry = await this.#file("snippet.ts", text);
    const { outputs } = await Bun.build({ entrypoints: [entry], target: "browser" });
    return (await outputs[0]?.text()) ?? "";
  }

  async close(): Promise<void> {
    await rm(this.#options.folder, { recursive: true, force: true });
  }

  get #trusted(): string {
    return this.#options.trusted;
  }

  /** A file in a folder of its own, from which the packages are found. */
  async #file(name: string, text: string): Promise<string> {
    const folder = join(this.#options.folder, String(this.#count++));
    await mkdir(folder);
    await symlink(join(this.#options.clients.node, "node_modules"), join(folder, "node_modules"));
    await writeFile(join(folder, name), text);
    return join(folder, name);
  }

  async #run(command: string[], more: Record<string, string> = {}): Promise<string> {
    const variables = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"];
    const trust = Object.fromEntries(variables.map((name) => [name, this.#trusted]));
    const path = [process.env.PATH, PROGRAMS, ...this.#options.programs].join(":");
    const home = { PATH: path, HOME: this.#options.folder };
    return (await runProgram(command, { ...this.#options.env, ...trust, ...home, ...more })).trim();
  }
}

/** The settings of an `.env`. */
export function settingsIn(text: string): Record<string, string> {
  const lines = [...text.matchAll(/^([A-Z_]+)=("?)(.*)\2$/gm)];
  return Object.fromEntries(lines.map(([, name = "", , value = ""]) => [name, value]));
}
