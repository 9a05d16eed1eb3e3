// A real MariaDB for tests, at a unix socket alone, with this process's user as its administrator.
import { SQL } from "bun";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../src/config.ts";
import { usableEngines, type FoundEngine } from "../../../src/engines/installed.ts";
import { userName } from "../../../src/lib/libc.ts";
import { untilSaid } from "./server-log.ts";

/** MariaDB refuses to run as root, so `nobody` runs it then. */
const SERVER_IDS = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const ADMIN = userName(process.getuid?.() ?? 0) ?? "";

export class TestMariaDb {
  readonly #engine: FoundEngine;
  readonly #folder: string;
  readonly #options: string[];
  #process: Bun.Subprocess | undefined;

  private constructor(engine: FoundEngine, options: string[]) {
    this.#engine = engine;
    this.#options = options;
    this.#folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-mariadb-"));
    chmodSync(this.#folder, 0o755);
  }

  /** Starts a server with fresh data. @param options for example `--max-connections=2`. */
  static async start(options: string[] = []): Promise<TestMariaDb> {
    const engine = (await usableEngines(loadConfig(process.env).enginesDir)).find(
      ({ name }) => name === "mariadb",
    );
    if (engine === undefined) throw new Error("these tests need MariaDB; run: pilvi engines install");
    const server = new TestMariaDb(engine, options);
    await server.#makeData();
    await server.#run();
    return server;
  }

  get version(): string {
    return this.#engine.version;
  }

  get socket(): string {
    return join(this.#folder, "engine.sock");
  }

  /** The CLI of this version, with its environment. */
  get cli(): { command: string; env: Record<string, string> } {
    return { command: this.#program("bin/mariadb"), env: this.#engine.env };
  }

  /** Runs a statement as the administrator. */
  async admin<T = unknown>(statement: string): Promise<T[]> {
    const db = new SQL({
      adapter: "mysql",
      path: this.socket,
      username: ADMIN,
      password: "",
      database: "mysql",
      max: 1,
    });
    try {
      return (await db.unsafe(statement)) as T[];
    } finally {
      await db.close();
    }
  }

  async stop(): Promise<void> {
    this.#process?.kill("SIGTERM");
    await this.#process?.exited;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #program(name: string): string {
    return this.#engine.origin === "store" ? join(this.#engine.home, "usr", name) : join("/usr", name);
  }

  async #makeData(): Promise<void> {
    const data = join(this.#folder, "data");
    mkdirSync(data, { mode: 0o700 });
    for (const path of [this.#folder, data]) {
      if (SERVER_IDS.uid !== undefined) chownSync(path, SERVER_IDS.uid, SERVER_IDS.gid);
    }
    const child = Bun.spawn(
      [
        this.#program("bin/mariadb-install-db"),
        "--no-defaults",
        `--basedir=${this.#program("").replace(/\/$/, "")}`,
        `--datadir=${data}`,
        `--tmpdir=${this.#folder}`,
        "--skip-test-db",
        "--auth-root-authentication-method=socket",
        `--auth-root-socket-user=${ADMIN}`,
        "--innodb-log-file-size=32M",
        "--skip-name-resolve",
      ],
      {
        ...SERVER_IDS,
        cwd: "/",
        env: { PATH: "/usr/bin:/bin", ...this.#engine.env },
        stdout: "ignore",
        stderr: "pipe",
      },
    );
    const complaints = await new Response(child.stderr).text();
    if ((await child.exited) !== 0) throw new Error(`no data could be made: ${complaints}`);
  }

  async #run(): Promise<void> {
    const share = this.#program("share/mysql");
    const argv = [
      this.#engine.program,
      "--no-defaults",
      `--datadir=${join(this.#folder, "data")}`,
      `--tmpdir=${this.#folder}`,
      `--socket=${this.socket}`,
      `--pid-file=${join(this.#folder, "engine.pid")}`,
      "--skip-networking",
      "--skip-name-resolve",
      "--character-set-server=utf8mb4",
      "--max-allowed-packet=64M",
      "--innodb-flush-log-at-trx-commit=0",
      ...(this.#engine.origin === "store"
        ? [`--lc-messages-dir=${share}`, `--character-sets-dir=${join(share, "charsets")}`]
        : []),
      ...this.#options,
    ];
    const child = Bun.spawn(argv, {
      ...SERVER_IDS,
      cwd: "/",
      env: this.#engine.env,
      stdout: "ignore",
      stderr: "pipe",
    });
    this.#process = child;
    endWithThisProcess(child.pid, this.#folder);
    await untilSaid(child.stderr, "ready for connections", "MariaDB");
  }
}

/**
 * A shell ends the server, since a test process may be killed; the shell's standard input ends with the test process.
 */
function endWithThisProcess(pid: number, folder: string): void {
  const script = 'cat; kill -KILL "$1" 2>/dev/null && rm -rf "$2"';
  const guard = Bun.spawn(["sh", "-c", script, "guard", String(pid), folder], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });
  guard.unref();
}
