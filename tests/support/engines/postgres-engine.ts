// A real Postgres for tests of the gateway: at a unix socket alone, with passwords in force as for customers.
import { SQL } from "bun";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig } from "../../../src/config.ts";
import { usableEngines, type FoundEngine } from "../../../src/engines/installed.ts";
import { mockNonceOf } from "../../../src/engines/postgres/mock-nonce.ts";
import type { InstanceUser } from "../../../src/contracts/users.ts";
import { untilSaid } from "./server-log.ts";

/** Postgres refuses to run as root, so `nobody` runs it then. */
const SERVER_IDS = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The user that needs no password, like the administrator of a cluster. */
export const ADMIN = "admin";

const ACCESS = [`local all ${ADMIN} trust`, "local all all scram-sha-256"];

/** The installed versions, the newest first. */
export async function postgresEngines(): Promise<FoundEngine[]> {
  const engines = await usableEngines(loadConfig(process.env).enginesDir);
  const found = engines.filter(({ name, origin }) => name === "postgres" && origin === "store");
  if (found.length === 0) throw new Error("these tests need Postgres; run: pilvi engines install");
  return found;
}

export class TestPostgres {
  readonly #engine: FoundEngine;
  readonly #folder: string;
  readonly #settings: string[];
  #process: Bun.Subprocess | null = null;
  #isRunning = false;

  private constructor(engine: FoundEngine, settings: string[]) {
    this.#engine = engine;
    this.#settings = settings;
    this.#folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-postgres-"));
    chmodSync(this.#folder, 0o755);
  }

  /** Starts a server with fresh data. @param settings for example `max_connections=5`. */
  static async start(settings: string[] = [], engine?: FoundEngine): Promise<TestPostgres> {
    const [newest] = await postgresEngines();
    const server = new TestPostgres(engine ?? (newest as FoundEngine), settings);
    await server.#makeData();
    await server.run();
    return server;
  }

  get version(): string {
    return this.#engine.version;
  }

  get socket(): string {
    return join(this.#folder, ".s.PGSQL.5432");
  }

  /** The nonce that the host reads from the data. */
  get mockNonce(): string | null {
    return mockNonceOf(this.#data);
  }

  /** Whether the server accepts connections, unless it refuses them itself. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Runs statements as the administrator. */
  async admin<T = unknown>(statement: string): Promise<T[]> {
    const db = new SQL({
      adapter: "postgres",
      path: this.socket,
      username: ADMIN,
      password: "",
      database: "postgres",
      max: 1,
    });
    try {
      return (await db.unsafe(statement)) as T[];
    } finally {
      await db.close();
    }
  }

  /** All users with a password, as the host sends them to the gateway. */
  async users(): Promise<InstanceUser[]> {
    const rows = await this.admin<InstanceUser>(
      "select rolname as name, rolpassword as verifier from pg_authid where rolcanlogin and rolpassword like 'SCRAM%'",
    );
    return rows.map(({ name, verifier }) => ({ name, verifier }));
  }

  async run(): Promise<void> {
    const settings = [
      "listen_addresses=",
      `unix_socket_directories=${this.#folder}`,
      "fsync=off",
      ...this.#settings,
    ];
    const argv = [this.#engine.program, "-D", this.#data, ...settings.flatMap((setting) => ["-c", setting])];
    const child = this.#spawn(argv);
    this.#process = child;
    await untilSaid(child.stderr, "ready to accept connections", "Postgres");
    this.#isRunning = true;
  }

  /** Ends it as the host does; its data stays. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#process?.kill("SIGINT");
    await this.#process?.exited;
    this.#process = null;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.#folder, "data");
  }

  #spawn(argv: string[]) {
    const env = { PATH: "/usr/bin:/bin", ...this.#engine.env };
    return Bun.spawn(argv, { ...SERVER_IDS, cwd: "/", env, stdout: "ignore", stderr: "pipe" });
  }

  async #makeData(): Promise<void> {
    mkdirSync(this.#data, { mode: 0o700 });
    for (const path of [this.#folder, this.#data]) {
      if (SERVER_IDS.uid !== undefined) chownSync(path, SERVER_IDS.uid, SERVER_IDS.gid);
    }
    const initdb = join(dirname(this.#engine.program), "initdb");
    const how = ["-U", ADMIN, "-A", "reject", "-E", "UTF8", "--locale=C", "-N"];
    const child = this.#spawn([initdb, "-D", this.#data, ...how]);
    const complaints = await new Response(child.stderr).text();
    if ((await child.exited) !== 0) throw new Error(`no data could be made: ${complaints}`);
    writeFileSync(join(this.#data, "pg_hba.conf"), `${ACCESS.join("\n")}\n`);
  }
}
