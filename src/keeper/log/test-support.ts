// What the tests of the log share: a real Postgres with a log of 4 MiB segments, and its restore from shipped segments.
import { SQL } from "bun";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig } from "../../config.ts";
import { usableEngines, type FoundEngine } from "../../engines/installed.ts";
import { MissingObject, type ObjectStore, type StoredObject } from "../object-store.ts";

/** Postgres refuses to run as root, so `nobody` runs it then. */
const SERVER_IDS = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const ADMIN = "admin";
export const SEGMENT_BYTES = 4_194_304;
/** So many lines of the server's log are enough for any question about its recovery. */
const MAX_SAID = 2_000_000;

/** The installed versions of Postgres, the newest first. */
export async function postgresEngines(): Promise<FoundEngine[]> {
  const engines = await usableEngines(loadConfig(process.env).enginesDir);
  const found = engines.filter(({ name, origin }) => name === "postgres" && origin === "store");
  if (found.length === 0) throw new Error("these tests need Postgres; run: pilvi engines install");
  return found;
}

/** Objects in memory. A test may have any operation fail, before or after it took effect. */
export class MemoryStore implements ObjectStore {
  readonly objects = new Map<string, Uint8Array>();
  operations = 0;
  /** Called before and after each change with the count of changes so far. */
  fault: (operation: number, moment: "before" | "after", name: string) => void = () => undefined;

  async put(name: string, bytes: Uint8Array): Promise<void> {
    this.#change(name, () => this.objects.set(name, bytes.slice()));
  }

  async get(name: string): Promise<Uint8Array> {
    const bytes = this.objects.get(name);
    if (bytes === undefined) throw new MissingObject(name);
    return bytes;
  }

  async list(prefix: string): Promise<StoredObject[]> {
    return [...this.objects]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, bytes]) => ({ name, storedBytes: bytes.length }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async delete(name: string): Promise<void> {
    this.#change(name, () => this.objects.delete(name));
  }

  #change(name: string, change: () => void): void {
    this.operations += 1;
    this.fault(this.operations, "before", name);
    change();
    this.fault(this.operations, "after", name);
  }
}

/** A base backup: a copy of the data folder, with what Postgres said about it. */
export interface Base {
  folder: string;
  startSegment: string;
  endLsn: string;
  /** In microseconds precision, as Postgres prints it in UTC. */
  completedAt: string;
}

export interface RestoreOptions {
  /** Files for `pg_wal`. */
  segments: { name: string; bytes: Uint8Array }[];
  /** For example `recovery_target_time=...`. */
  settings: string[];
}

/** What became of a restore. */
export interface Restored {
  server: LogPostgres;
  isReady: boolean;
  said: string;
  /** `redo done at` of the log; null when it never came to that. */
  reached: string | null;
}

export class LogPostgres {
  readonly engine: FoundEngine;
  readonly folder: string;
  #process: Bun.Subprocess | null = null;
  #said = "";

  private constructor(engine: FoundEngine) {
    this.engine = engine;
    this.folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-log-"));
    chmodSync(this.folder, 0o755);
    own(this.folder);
  }

  /** A server with fresh data, `track_commit_timestamp` and the slot that keeps its log. */
  static async start(engine?: FoundEngine): Promise<LogPostgres> {
    const [newest] = await postgresEngines();
    const server = new LogPostgres(engine ?? (newest as FoundEngine));
    const initdb = join(dirname(server.engine.program), "initdb");
    const how = ["-U", ADMIN, "-A", "trust", "-E", "UTF8", "--locale=C", "-N", "--wal-segsize=4"];
    const child = server.#spawn([initdb, "-D", server.data, ...how]);
    const complaints = await new Response(child.stderr).text();
    if ((await child.exited) !== 0) throw new Error(`no data could be made: ${complaints}`);
    await server.run();
    await server.query("select pg_create_physical_replication_slot('pilvi', true)");
    return server;
  }

  get data(): string {
    return join(this.folder, "data");
  }

  get log(): string {
    return join(this.data, "pg_wal");
  }

  get major(): number {
    return Number.parseInt(this.engine.version, 10);
  }

  connect(max = 1): SQL {
    const path = join(this.folder, ".s.PGSQL.5432");
    return new SQL({ adapter: "postgres", path, username: ADMIN, password: "", database: "postgres", max });
  }

  async query<T = Record<string, unknown>>(statement: string): Promise<T[]> {
    const db = this.connect();
    try {
      return (await db.unsafe(statement)) as T[];
    } finally {
      await db.close();
    }
  }

  /** @returns whether it became ready; false when it ended before. */
  async run(settings: string[] = []): Promise<boolean> {
    const all = [
      "listen_addresses=",
      `unix_socket_directories=${this.folder}`,
      "wal_level=replica",
      "max_wal_senders=0",
      "max_replication_slots=2",
      "track_commit_timestamp=on",
      "min_wal_size=16MB",
      "max_wal_size=32MB",
      "timezone=UTC",
      ...settings,
    ];
    const argv = [this.engine.program, "-D", this.data, ...all.flatMap((setting) => ["-c", setting])];
    do {
      this.#said = "";
      this.#process = this.#spawn(argv);
      if (await this.#untilReady(this.#process)) return true;
      // The children of a killed server end a moment after it.
    } while (this.#said.includes("pre-existing shared memory block"));
    return false;
  }

  async stop(signal: NodeJS.Signals = "SIGINT"): Promise<void> {
    this.#process?.kill(signal);
    await this.#process?.exited;
    this.#process = null;
  }

  async remove(): Promise<void> {
    await this.stop("SIGQUIT");
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A hot backup, as the host makes it. */
  async base(): Promise<Base> {
    const db = this.connect();
    const folder = mkdtempSync(join(this.folder, "base-"));
    const [start, stop] =
      this.major < 15
        ? ["select pg_start_backup('base', true, false)", "select * from pg_stop_backup(false, false)"]
        : ["select pg_backup_start('base', true)", "select * from pg_backup_stop(false)"];
    await db.unsafe(start);
    copyData(this.data, folder);
    const [row] = (await db.unsafe(stop)) as { lsn: string; labelfile: string }[];
    const [clock] = (await db.unsafe("select clock_timestamp()::text as now")) as { now: string }[];
    await db.close();
    writeFileSync(join(folder, "backup_label"), row?.labelfile ?? "");
    const startSegment = /file ([0-9A-F]{24})/.exec(row?.labelfile ?? "")?.[1] ?? "";
    const completedAt = `${(clock?.now ?? "").replace(" ", "T").replace(/\+00$/, "")}Z`;
    return { folder, startSegment, endLsn: row?.lsn ?? "", completedAt };
  }

  /** Restores a base with segments into a server of its own. */
  async restore(base: Base, { segments, settings }: RestoreOptions): Promise<Restored> {
    const server = new LogPostgres(this.engine);
    server.putData(base.folder);
    for (const { name, bytes } of segments) writeFileSync(join(server.log, name), bytes);
    writeFileSync(join(server.data, "recovery.signal"), "");
    for (const name of readdirSync(server.log)) own(join(server.log, name));
    const recovery = ["restore_command=/bin/false", "recovery_target_timeline=current", "hot_standby=off"];
    const isReady = await server.run([...recovery, ...settings]);
    const reached = /redo done at ([0-9A-F]+\/[0-9A-F]+)/.exec(server.#said)?.[1] ?? null;
    return { server, isReady, said: server.#said, reached };
  }

  /** Puts a copy of a data folder in place of the server's own. */
  putData(from: string): void {
    rmSync(this.data, { recursive: true, force: true });
    cpSync(from, this.data, { recursive: true, preserveTimestamps: true });
    mkdirSync(this.log, { recursive: true });
    for (const name of readdirSync(this.data, { recursive: true })) own(join(this.data, String(name)));
    own(this.data);
    chmodSync(this.data, 0o700);
  }

  /** Gives a file that a test made to the server. */
  own(path: string): void {
    own(path);
  }

  #spawn(argv: string[]) {
    const env = { PATH: "/usr/bin:/bin", ...this.engine.env };
    return Bun.spawn(argv, { ...SERVER_IDS, cwd: "/", env, stdout: "ignore", stderr: "pipe" });
  }

  async #untilReady(child: Bun.Subprocess<"ignore", "ignore", "pipe">): Promise<boolean> {
    const reader = child.stderr.getReader();
    const decoder = new TextDecoder();
    const readOn = async () => {
      const { done, value } = await reader.read();
      if (value !== undefined && this.#said.length < MAX_SAID)
        this.#said += decoder.decode(value, { stream: true });
      return !done;
    };
    while (!this.#said.includes("ready to accept connections")) {
      if (!(await readOn())) return false;
    }
    const drain = async () => {
      while (await readOn());
    };
    drain().catch(() => undefined);
    return true;
  }
}

const LEFT_OUT =
  /\/(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/.+|\/postmaster\.(pid|opts)$/;

/** Files may go while they are copied, as with `tar`. */
function copyData(data: string, folder: string): void {
  const child = Bun.spawnSync([
    "sh",
    "-c",
    'cd "$1" && tar --create --warning=no-file-changed --warning=no-file-removed . | tar --extract -C "$2"',
    "copy",
    data,
    folder,
  ]);
  if (child.exitCode > 1) throw new Error(`the data could not be copied: ${child.stderr.toString()}`);
  for (const name of readdirSync(folder, { recursive: true })) {
    if (LEFT_OUT.test(`/${String(name)}`))
      rmSync(join(folder, String(name)), { recursive: true, force: true });
  }
}

function own(path: string): void {
  if (SERVER_IDS.uid !== undefined) chownSync(path, SERVER_IDS.uid, SERVER_IDS.gid);
}
