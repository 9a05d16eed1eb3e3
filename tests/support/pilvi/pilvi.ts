// A whole Pilvi for tests: `pilvi up` on a fresh data directory and free ports, with real engines behind it.
import { EDGE_ID } from "../../../src/contracts/edge-id.ts";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { loadConfig } from "../../../src/config.ts";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import { VERIFICATIONS } from "../../../src/resources/shared/backups/verifications.ts";
import { removeNetworkRules } from "./network-rules.ts";
import { freePort, instancePorts } from "./ports.ts";
import { copyTemplate } from "./template.ts";
import { childrenOf, commandLine, enginePidsAt, killIfThere } from "./processes.ts";

const MAIN = resolve(import.meta.dir, "../../../src/main.ts");
export const TOKEN = "test-token-of-the-default-organization";
/** How much of the log is kept for a test that fails. */
const LOG_CHARACTERS = 16 * 1024 * 1024;
/** How much of the log of a process explains a start that failed. */
const CAUSE_CHARACTERS = 8 * 1024;
/** The pauses of `until`. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [5, 25];
/** Longer than a single request waits. */
const UNTIL_STATUS_MS = 90_000;

/** The processes of Pilvi that a test may kill. */
export type ProcessName = "control" | "host" | "gateway" | "keeper";

export interface StartOptions {
  env?: Record<string, string>;
  /** A directory that another Pilvi left, or an empty directory for a first start; a new Pilvi when left out. */
  dataDir?: string;
  port?: number;
  /** How many files each process may have open. */
  openFiles?: number;
}

/** An answer of the API, with its whole body. */
export interface Answer<T = unknown> {
  status: number;
  headers: Headers;
  body: T;
}

/** A single-resource answer. */
export interface CacheDocument {
  data: CacheResource;
}

/** Starts Pilvi and resolves when it reports that it is ready. */
export async function startPilvi(options: StartOptions = {}): Promise<TestPilvi> {
  const { env = {}, port = freePort(), openFiles } = options;
  const dataDir = options.dataDir ?? freshDataDir();
  if (options.dataDir === undefined) copyTemplate(dataDir, env);
  const pilvi = new TestPilvi(dataDir, port, env, openFiles);
  await pilvi.start();
  return pilvi;
}

export class TestPilvi {
  readonly dataDir: string;
  readonly port: number;
  readonly env: Record<string, string>;
  readonly #limits: string[];
  #process: Bun.Subprocess<"ignore", "pipe", "pipe"> | undefined;
  #log = "";
  /** What the latest start printed on stdout, from its beginning to the ready text. */
  printed = "";

  constructor(dataDir: string, port: number, env: Record<string, string>, openFiles?: number) {
    this.#limits =
      openFiles === undefined ? [] : ["sh", "-c", 'ulimit -n "$0" && exec "$@"', String(openFiles)];
    this.dataDir = dataDir;
    this.port = port;
    this.env = { ...pilviEnv(dataDir, port), ...env };
  }

  get url(): string {
    return `${this.#certificate === undefined ? "http" : "https"}://127.0.0.1:${this.port}`;
  }

  /** The certificate that the API presents; undefined for an API in clear. */
  get #certificate(): string | undefined {
    const file = this.env.PILVI_TLS_CERT;
    return file === undefined ? undefined : readFileSync(file, "utf8");
  }

  /** The pid of `pilvi up`. */
  get pid(): number {
    if (this.#process === undefined) throw new Error("this Pilvi does not run");
    return this.#process.pid;
  }

  /** @throws with its output when it ends before it is ready. */
  async start(): Promise<void> {
    const child = Bun.spawn([...this.#limits, process.execPath, MAIN, "up"], {
      env: this.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process = child;
    const logged = this.#keepLog(child.stderr);
    const decoder = new TextDecoder();
    this.printed = "";
    for await (const chunk of child.stdout) {
      this.printed += decoder.decode(chunk, { stream: true });
      if (this.printed.includes("pilvi ready ")) return;
    }
    await logged;
    const causes = (["control", "host"] as const).map((name) => this.#endOfLog(name)).join("");
    throw new Error(`Pilvi did not start: ${this.printed}${this.#log}${causes}`);
  }

  #endOfLog(name: ProcessName): string {
    const path = join(this.dataDir, "log", `${name}.log`);
    return existsSync(path) ? readFileSync(path, "utf8").slice(-CAUSE_CHARACTERS) : "";
  }

  /** The latest part of the log of all starts of this Pilvi. */
  log(): string {
    return this.#log;
  }

  async #keepLog(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      this.#log = (this.#log + decoder.decode(chunk, { stream: true })).slice(-LOG_CHARACTERS);
    }
  }

  /** Kills `pilvi up` itself, as a crash would; its child processes notice by themselves. */
  async crash(): Promise<void> {
    await this.stop("SIGKILL");
  }

  /** Stops everything cleanly and returns the exit code. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.#process?.kill(signal);
    await this.#process?.exited;
    return this.#process?.exitCode ?? null;
  }

  /** Stops everything and deletes the data directory. */
  async close(): Promise<void> {
    await this.stop();
    await removeNetworkRules(this.dataDir);
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** The metrics for Prometheus, with the ids of resources. */
  async metrics(): Promise<string> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    return await (await fetch(`${this.url}/metrics`, { headers })).text();
  }

  /** Sends a request to the API and reads the answer; a body is sent as JSON. */
  async api<T = unknown>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const response = await fetch(`${this.url}/api${path}`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(this.#certificate === undefined ? {} : { tls: { ca: this.#certificate } }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === "" ? undefined : JSON.parse(text)) as T,
    };
  }

  /** Creates a cache and waits until it is available. */
  async createCache(attributes: Record<string, unknown> = {}): Promise<CacheResource> {
    const created = await this.api<CacheDocument>("POST", "/caches", cacheBody(attributes));
    if (created.status !== 201)
      throw new Error(`POST /caches: ${created.status} ${JSON.stringify(created.body)}`);
    return await this.untilStatus(created.body.data.id, "available");
  }

  /** Waits until the cache has the status. */
  async untilStatus(id: string, status: string): Promise<CacheResource> {
    const giveUpAt = performance.now() + UNTIL_STATUS_MS;
    for (;;) {
      const answer = await this.api<CacheDocument>("GET", `/caches/${id}?wait=${status}`);
      if (answer.status === 200 && answer.body.data.attributes.status === status) return answer.body.data;
      if (answer.status !== 200 || performance.now() > giveUpAt)
        throw new Error(`${id} is not ${status}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
  }

  /** Deletes the cache and waits until it is gone. */
  async deleteCache(id: string): Promise<void> {
    await this.api("DELETE", `/caches/${id}`);
    const answer = await this.api("GET", `/caches/${id}?wait=deleted`);
    if (answer.status !== 404) throw new Error(`${id} is not gone: ${JSON.stringify(answer.body)}`);
  }

  /** The pid of one of Pilvi's processes, or undefined while it is being started again. */
  pidOf(name: ProcessName): number | undefined {
    return childrenOf(this.pid).find((pid) => commandLine(pid).at(-1) === name);
  }

  /**
   * The pid of one of Pilvi's processes that runs now. A signal to 0 in its place would reach the tests themselves.
   * @throws Error when the process does not run.
   */
  runningPid(name: ProcessName): number {
    const pid = this.pidOf(name);
    if (pid === undefined) throw new Error(`the ${name} process does not run`);
    return pid;
  }

  /** The pid of one of Pilvi's processes, as soon as it runs. */
  async untilPid(name: ProcessName): Promise<number> {
    await until(`the ${name} process runs`, () => this.pidOf(name) !== undefined);
    return this.runningPid(name);
  }

  /** Ends processes as a crash would; processes that do not run now are skipped. */
  kill(...names: ProcessName[]): void {
    for (const name of names) killIfThere(this.pidOf(name));
  }

  /** Waits until the API, its store and its host answer. */
  async untilReady(timeoutMs?: number): Promise<void> {
    const isReady = async () => {
      const response = await fetch(`${this.url}/readyz`).catch(() => null);
      return response?.status === 200;
    };
    await until("Pilvi is ready", isReady, timeoutMs);
  }

  /** The program and its arguments, as `pilvi up` runs it: built, with its fail points. */
  builtProgram(): [string, string] {
    const home = join(this.dataDir, "program");
    const folder = readdirSync(home).find((name) => !name.startsWith("bun-")) ?? "";
    return [join(home, `bun-${Bun.version}`), join(home, folder, "main.js")];
  }

  /** The pids of the engine processes of an instance. */
  enginePids(id: string): number[] {
    return enginePidsAt(join(this.dataDir, "instances", id));
  }

  /** The folders of all instances but the store. */
  instanceFolders(): string[] {
    return readdirSync(join(this.dataDir, "instances")).filter(
      (name) => name !== "store" && name !== EDGE_ID,
    );
  }

  /** Runs a command of the program against this Pilvi. */
  async run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const child = Bun.spawn([process.execPath, MAIN, ...args], {
      env: { ...this.env, PILVI_TOKEN: TOKEN },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code: await child.exited, stdout, stderr };
  }
}

/** The environment of a Pilvi under test; nothing of the caller's own settings leaks in. */
export function pilviEnv(dataDir: string, port: number): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "/",
    PILVI_DATA_DIR: dataDir,
    PILVI_ENGINES_DIR: loadConfig(process.env).enginesDir,
    PILVI_PORT: String(port),
    PILVI_PORT_RANGE: instancePorts(),
    PILVI_EDGE_HTTP: String(freePort()),
    PILVI_BOOTSTRAP_TOKEN: TOKEN,
    PILVI_RATE_LIMIT: "0",
    // Only tests of databases need them, and building them takes the processor from all other tests.
    PILVI_WARM_SLOTS: "0",
  };
}

/** A valid body for `POST /caches`. */
export function cacheBody(attributes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: "platform_valkey",
    name: "sessions",
    region: "eu-central-1",
    size: "valkey-flex-250mb",
    ...attributes,
  };
}

/** A folder that engines under users of their own can reach. */
export function freshDataDir(): string {
  const folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-"));
  chmodSync(folder, 0o711);
  return folder;
}

/** Stops a Pilvi's processes at fail points, so that a test can kill them exactly there. */
export class Failpoints {
  readonly folder: string;
  /** Resources whose last steps may still be under way when a fail point is armed, and the work that each host always has. */
  readonly #passing: string[] = [VERIFICATIONS];

  constructor() {
    this.folder = join(freshDataDir(), "failpoints");
    mkdirSync(this.folder);
    // The control plane runs under a user of its own and writes here as well.
    chmodSync(this.folder, 0o777);
  }

  get env(): Record<string, string> {
    return { PILVI_FAILPOINT_DIR: this.folder };
  }

  /** Makes the next process that reaches the fail point wait there. */
  arm(name: string): void {
    for (const file of readdirSync(this.folder)) rmSync(join(this.folder, file));
    // A process that sees the file sees all of it.
    const prepared = join(this.folder, "prepared");
    writeFileSync(prepared, this.#passing.join("\n"));
    renameSync(prepared, join(this.folder, `armed.${name}`));
  }

  /** Lets the work at a resource pass fail points from now on: a client sees its end before it has ended. */
  letPass(resourceId: string): void {
    this.#passing.push(resourceId);
  }

  /** Resolves with the pid of the process that waits at the armed fail point. */
  async reached(): Promise<number> {
    const file = join(this.folder, "reached");
    const armed = readdirSync(this.folder).find((name) => name.startsWith("armed."));
    await until(`${armed} is reached`, () => existsSync(file) && readFileSync(file, "utf8") !== "");
    return Number(readFileSync(file, "utf8"));
  }

  /** Lets the waiting process go on, if it lives, and all later processes pass. */
  release(): void {
    for (const file of readdirSync(this.folder)) {
      if (file.startsWith("armed.")) rmSync(join(this.folder, file));
    }
  }

  close(): void {
    rmSync(dirname(this.folder), { recursive: true, force: true });
  }
}

/**
 * Waits until a condition holds, by polling it; fails after a time. The pauses grow with the time waited: most
 * conditions are requests or walks through /proc, which take the processor from what they wait for.
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const startedAt = performance.now();
  while (!(await holds())) {
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > timeoutMs) throw new Error(`timed out waiting until ${what}`);
    await Bun.sleep(Math.min(FIRST_PAUSE_MS + waitedMs / 20, LONGEST_PAUSE_MS));
  }
}
