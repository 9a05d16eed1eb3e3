// Postgres clusters in plain folders, with their backups and logs in files: without a host and without a keeper.
import { SQL } from "bun";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresEngines } from "./postgres-engine.ts";
import { untilSaid } from "./server-log.ts";
import type { PostgresSpec } from "../../../src/contracts/instance-spec.ts";
import type { BackupFacts } from "../../../src/contracts/keeper.ts";
import { chownTree } from "../../../src/lib/files.ts";
import { scramVerifier } from "../../../src/lib/verifiers.ts";
import type { CopyCommand, CopyFacts } from "../../../src/engines/backup.ts";
import type { Account, EngineContext, MadeDatabases } from "../../../src/engines/engine.ts";
import { commandOf, type InstalledEngine } from "../../../src/engines/installed-engine.ts";
import { firstNumbers } from "../../../src/engines/versions.ts";
import { asAdmin } from "../../../src/engines/postgres/admin.ts";
import { readControlFile } from "../../../src/engines/postgres/control-file.ts";
import { postgres } from "../../../src/engines/postgres/index.ts";
import { backup } from "../../../src/engines/postgres/backup/index.ts";
import { lsnText } from "../../../src/engines/postgres/backup/lsn.ts";

const isRoot = process.getuid?.() === 0;

/** A user that builds first data needs a name. */
const BUILDER: Account | null = isRoot ? { uid: 65_534, gid: 65_534 } : null;
/** The user of all clusters here. */
export const ACCOUNT: Account | null = isRoot ? { uid: 64_101, gid: 64_101 } : null;
/** The user that may read a kept log. */
export const READER: Account | null = isRoot ? { uid: 64_102, gid: 64_102 } : null;

/** Holds all folders; made with the first, and again after they were deleted. */
let root: string | null = null;

const running = new Set<Cluster>();
let made = 0;

/** The newest installed Postgres of each major version. */
export async function engines(): Promise<[major: string, installed: InstalledEngine][]> {
  const all = await postgresEngines();
  const majors = new Map<string, InstalledEngine>();
  for (const each of all) {
    const major = firstNumbers(each.version, 1);
    if (!majors.has(major)) majors.set(major, each);
  }
  return [...majors];
}

/** Has `enginesUnderTest` give the versions between the oldest and the newest, where it is set to `inner`. */
export const VERSIONS_SETTING = "PILVI_TEST_VERSIONS";

/** The oldest and the newest Postgres, where a difference would show; the long suite takes those in between. */
export async function enginesUnderTest(): Promise<[major: string, installed: InstalledEngine][]> {
  const all = await engines();
  const isInner = (index: number) => index > 0 && index < all.length - 1;
  const wantsInner = process.env[VERSIONS_SETTING] === "inner";
  return all.filter((_, index) => isInner(index) === wantsInner);
}

/** Ends all clusters and deletes all files. */
export async function cleanUp(): Promise<void> {
  await Promise.all([...running].map((cluster) => cluster.kill()));
  if (root !== null) rmSync(root, { recursive: true, force: true });
  root = null;
  firstDataOf.clear();
}

/** A folder of the clusters' user. */
export function newFolder(): string {
  const path = join((root ??= newRoot()), String((made += 1)));
  mkdirSync(path, { mode: 0o755 });
  own(path);
  return path;
}

function newRoot(): string {
  const path = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-pgbackup-"));
  chmodSync(path, 0o755);
  return path;
}

/** Gives a path to the user of all clusters. */
export function own(path: string): void {
  if (ACCOUNT !== null) chownSync(path, ACCOUNT.uid, ACCOUNT.gid);
}

/** Runs a program as the user of all clusters. */
export function spawn(
  argv: string[],
  cwd: string,
  stdin: number | "ignore",
  stdout: number | "ignore",
  env = {},
) {
  const stdio = [stdin, stdout, "pipe"] as const;
  return Bun.spawn(argv, {
    cwd,
    env: { PATH: "/usr/bin:/bin", TZ: "UTC", ...env },
    stdio: [...stdio],
    ...ACCOUNT,
  });
}

const firstDataOf = new Map<string, Promise<string>>();

/** First data of a version, which is built once. */
async function firstData(installed: InstalledEngine): Promise<string> {
  const folder = newFolder();
  if (BUILDER !== null) chownSync(folder, BUILDER.uid, BUILDER.gid);
  await postgres.firstData?.build(installed, folder, {
    run: async (command, input) => {
      const stdin = input === undefined ? "ignore" : Buffer.from(input);
      const env = { PATH: "/usr/bin:/bin", TZ: "UTC", ...installed.env };
      const child = Bun.spawn(command, { cwd: folder, env, stdio: [stdin, "ignore", "pipe"], ...BUILDER });
      const said = await new Response(child.stderr).text();
      if ((await child.exited) !== 0) throw new Error(said);
    },
  });
  return join(folder, "data");
}

/** The names of databases that a test makes count for nobody. */
const noDatabases: MadeDatabases = {
  isOfOrigin: () => false,
  has: () => false,
  add: async () => {},
  remove: async () => {},
};

/** A cluster in a folder of its own. */
export class Cluster {
  readonly context: EngineContext<PostgresSpec>;
  #process: Bun.Subprocess | null = null;
  /** Settings in addition to those of the engine. */
  readonly #settings: string[];

  constructor(installed: InstalledEngine, folder: string, settings: string[] = [], spec: object = {}) {
    const path = (name: string) => join(folder, name);
    const [confDir, dataDir, runDir, tmpDir] = [path("conf"), path("data"), path("run"), path("tmp")];
    for (const each of [confDir, runDir, tmpDir]) mkdirSync(each, { mode: 0o755 });
    own(runDir);
    this.#settings = settings;
    this.context = {
      spec: { ...SPEC, ...spec },
      installed,
      paths: { confDir, dataDir, runDir, tmpDir, socket: join(runDir, ".s.PGSQL.5432") },
      limits: { memoryBytes: 256 * 1024 ** 2, enforcedBy: "engine" },
      account: ACCOUNT,
      address: "127.0.0.1",
      certificate: null,
      adminPassword: "",
      allowPrivateWebhooks: false,
      logReader: READER,
    };
  }

  /** A running cluster with first data. */
  static async start(
    installed: InstalledEngine,
    settings: string[] = [],
    spec: object = {},
  ): Promise<Cluster> {
    const built = firstDataOf.get(installed.version) ?? firstData(installed);
    firstDataOf.set(installed.version, built);
    const folder = newFolder();
    cpSync(await built, join(folder, "data"), { recursive: true });
    if (ACCOUNT !== null) chownTree(join(folder, "data"), ACCOUNT);
    const cluster = new Cluster(installed, folder, settings, spec);
    await cluster.run();
    return cluster;
  }

  get dataDir(): string {
    return this.context.paths.dataDir;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Starts it as the host does, with its users and databases. */
  async run(): Promise<void> {
    const { context } = this;
    postgres.prepare?.(context);
    for (const [name, content] of Object.entries(postgres.files(context)))
      writeFileSync(join(context.paths.confDir, name), content, { mode: 0o644 });
    appendFileSync(join(context.paths.confDir, "postgresql.conf"), this.#settings.join("\n"));
    const argv = [...commandOf(context.installed), ...postgres.args(context)];
    const child = spawn(argv, this.dataDir, "ignore", "ignore", context.installed.env);
    this.#process = child;
    running.add(this);
    await untilSaid(child.stderr, "ready to accept connections", "Postgres");
    await postgres.apply?.(context, { isNew: false, made: noDatabases });
  }

  async stop(): Promise<void> {
    this.#process?.kill("SIGINT");
    await this.#process?.exited;
    running.delete(this);
  }

  async kill(): Promise<void> {
    this.#process?.kill("SIGQUIT");
    await this.#process?.exited;
    running.delete(this);
  }

  /** Runs a statement as the administrator, with `public` for tables without a schema. */
  async sql<T = Record<string, unknown>>(statement: string, database = "main"): Promise<T[]> {
    return await asAdmin(this.context, database, async (db) => {
      await db.unsafe("set search_path = public");
      return [...(await db.unsafe<T[]>(statement))];
    });
  }

  /** A session of the customer. */
  client(database = "main"): SQL {
    const login = { username: "app", password: "moi", database, max: 1 };
    return new SQL({ adapter: "postgres", path: this.context.paths.socket, ...login });
  }
}

const SPEC: PostgresSpec = {
  kind: "postgres",
  id: "db-test",
  engines: ["postgres"],
  users: [{ name: "app", verifier: scramVerifier("moi", "db-test") }],
  exposure: { port: 5432, scope: "loopback", through: "gateway" },
  version: null,
  memoryBytes: 256 * 1024 ** 2,
  cpus: null,
  maxConnections: 20,
  databases: [{ name: "main", owner: "app", desiredState: "present" }],
  sleepAfterSeconds: 60,
  keepsLog: true,
};

/** A backup in a file. */
export interface StoredBackup {
  file: string;
  facts: BackupFacts;
}

/** Backs a running cluster up. @param during runs after the begin, beside the copy. */
export async function backUpHot(cluster: Cluster, during = async () => {}): Promise<StoredBackup> {
  const file = join(newFolder(), "stream");
  const copy = await backup.begin(cluster.context, "snapshot-1", new AbortController().signal);
  try {
    await Promise.all([append(copy.copy, file), during()]);
    const { facts, rest } = await copy.end();
    for (const each of rest) await append(each, file);
    return { file, facts: factsOf(cluster, facts, true) };
  } finally {
    await copy.close();
  }
}

/** Backs a stopped cluster up. */
export async function backUpCold(cluster: Cluster): Promise<StoredBackup> {
  const file = join(newFolder(), "stream");
  const { copies, facts } = await backup.cold(cluster.context);
  for (const each of copies) await append(each, file);
  return { file, facts: factsOf(cluster, { users: [], databases: [], ...facts }, false) };
}

function factsOf(
  { context: { installed } }: Cluster,
  facts: CopyFacts & Pick<BackupFacts, "users" | "databases">,
  isHot: boolean,
): BackupFacts {
  const engine = {
    name: "postgres",
    major: firstNumbers(installed.version, 1),
    version: installed.version,
  } as const;
  return { ...facts, engine, isHot, dataBytes: 0 };
}

async function append({ argv, okExitCodes }: CopyCommand, file: string): Promise<void> {
  const output = openSync(file, "a");
  const child = spawn(argv, "/", "ignore", output);
  const said = await new Response(child.stderr).text();
  const code = await child.exited;
  closeSync(output);
  if (!okExitCodes.includes(code)) throw new Error(`${argv[0]} ended with ${code}: ${said}`);
}

/** The log of a cluster in a folder, as of a moment. */
export interface Archive {
  folder: string;
  /** The end of the log at that moment. */
  lsn: string;
}

/** Copies the log of a cluster, which may run. */
export async function archiveLog(cluster: Cluster, isRunning = true): Promise<Archive> {
  const folder = newFolder();
  const lsn = isRunning
    ? await endOfLog(cluster)
    : lsnText(readControlFile(cluster.dataDir)?.checkpoint ?? 0n);
  const log = join(cluster.dataDir, "pg_wal");
  for (const name of segmentsIn(log)) cpSync(join(log, name), join(folder, name));
  return { folder, lsn };
}

/** The end of a record that is on the disk. */
async function endOfLog(cluster: Cluster): Promise<string> {
  // Its commit writes the log to the disk, unlike that of a transaction without a record of its own.
  const [row] = await cluster.sql<{ lsn: string }>(
    "select pg_logical_emit_message(true, 'archive', '')::text as lsn",
  );
  if (row === undefined) throw new Error("the cluster has no log");
  return row.lsn;
}

/** The names of segments and histories in a folder, the oldest first. */
export function segmentsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^([0-9A-F]{24}|[0-9A-F]{8}\.history)$/.test(name))
    .sort();
}
