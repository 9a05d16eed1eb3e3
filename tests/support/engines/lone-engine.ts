// A real engine with data in a folder of a test, run as an instance is but without a host, to back it up and restore it.
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../src/config.ts";
import type { InstanceSpec } from "../../../src/contracts/instance-spec.ts";
import type { BackupFacts } from "../../../src/contracts/keeper.ts";
import type {
  CopyCommand,
  EngineBackup,
  RestoreContext,
  RestoreProcess,
} from "../../../src/engines/backup.ts";
import type { Account, Engine, EngineContext } from "../../../src/engines/engine.ts";
import { usableEngines, type InstalledEngine } from "../../../src/engines/installed.ts";
import { writeConfig } from "../../../src/host/engine/context.ts";
import { startEngine, stopEngine, type EngineProcess } from "../../../src/host/engine/engine-process.ts";
import { readTail } from "../../../src/host/engine/log-follower.ts";
import { untilReady } from "../../../src/host/engine/readiness.ts";
import { canSwitchUsers, socketGroupOf, uidOfPort } from "../../../src/host/os/accounts.ts";
import {
  ensureEngineFolders,
  ensureInstanceFolder,
  enginePaths,
  instanceFolder,
  type InstanceFolder,
} from "../../../src/host/os/layout.ts";
import { ensureFirstData } from "../../../src/host/provisioning/data-directory.ts";
import { freshDataDir } from "../pilvi/pilvi.ts";

/** A backup as a whole, in memory. */
export interface MadeBackup {
  stream: Buffer;
  facts: BackupFacts;
}

/** The installed engine of this name that an instance would run with. */
export async function installedEngine(name: string): Promise<InstalledEngine> {
  const engine = (await usableEngines(loadConfig(process.env).enginesDir)).find((each) => each.name === name);
  if (engine === undefined) throw new Error(`these tests need ${name}; run: pilvi engines install`);
  return engine;
}

/** Its first data is always built. */
const SOURCES = {
  slots: { take: () => false },
  origin: { build: () => Promise.reject(new Error("it has no origin")) },
};

export class LoneEngine<S extends InstanceSpec> {
  readonly #engine: Engine<S>;
  readonly folder: InstanceFolder;
  readonly context: EngineContext<S>;
  readonly #root = freshDataDir();
  #process: EngineProcess | null = null;

  /** Makes the folders; nothing runs yet. */
  constructor(
    engine: Engine<S>,
    installed: InstalledEngine,
    spec: S,
    overrides: Partial<EngineContext<S>> = {},
  ) {
    this.#engine = engine;
    mkdirSync(join(this.#root, "instances"), { mode: 0o711 });
    this.folder = instanceFolder(this.#root, spec.id);
    const account = accountFor(spec);
    ensureInstanceFolder(this.folder);
    ensureEngineFolders(this.folder, account, socketGroupOf(spec));
    this.context = {
      spec,
      installed,
      paths: enginePaths(this.folder, engine.socketName(spec)),
      limits: engine.limits(spec, totalmem()),
      account,
      address: "127.0.0.1",
      certificate: null,
      adminPassword: "a".repeat(40),
      allowPrivateWebhooks: false,
      logReader: null,
      ...overrides,
    };
  }

  /** The data directory of the host that would run it. */
  get dataDir(): string {
    return this.#root;
  }

  /** The process of the engine; null while it does not run. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** Starts the engine on its data, made first where there is none, and applies the spec. */
  async start(beforeStart: () => void = () => {}): Promise<void> {
    // The types of an engine and its spec fit together; a table of engines cannot say so.
    const [engine, context] = [this.#engine, this.context] as unknown as [
      Engine,
      EngineContext<InstanceSpec>,
    ];
    const isNew = await ensureFirstData(engine, context, SOURCES, () => undefined);
    engine.prepare?.(context);
    writeConfig(engine, context);
    engine.beforeStart?.(context);
    beforeStart();
    this.#process = await startEngine(engine, context, this.folder, () => Promise.resolve(null));
    const never = new AbortController().signal;
    const readiness = await untilReady(engine, context, this.folder, this.#process, never);
    if (readiness !== "ready") throw new Error(`the engine is ${readiness}: ${readTail(this.folder.log, 0)}`);
    const made = new Set<string>();
    await engine.apply?.(context, {
      isNew,
      made: {
        isOfOrigin: () => false,
        has: (name) => made.has(name),
        add: async (name) => void made.add(name),
        remove: async (name) => void made.delete(name),
      },
    });
  }

  /** Ends the engine with all its data saved. */
  async stop(signal: NodeJS.Signals = this.#engine.stopSignal): Promise<void> {
    await stopEngine(this.#process, { signal, timeoutMs: 60_000 }, this.folder);
    this.#process = null;
  }

  /** Ends the engine, and deletes all that the test made of it. */
  async close(): Promise<void> {
    await this.stop("SIGKILL");
    rmSync(this.#root, { recursive: true, force: true });
  }

  get backup(): EngineBackup<S> {
    if (this.#engine.backup === undefined) throw new Error(`${this.#engine.name} has no backups`);
    return this.#engine.backup;
  }

  /** A backup of the running engine. */
  async hotBackup(): Promise<MadeBackup> {
    const hot = await this.backup.begin(this.context, "snapshot-test", new AbortController().signal);
    try {
      const copied = await this.output(hot.copy);
      const { facts, rest } = await hot.end();
      const streams = [copied];
      for (const copy of rest) streams.push(await this.output(copy));
      return { stream: Buffer.concat(streams), facts: this.#factsOf(facts, true) };
    } finally {
      await hot.close();
    }
  }

  /** A backup of the stopped engine. */
  async coldBackup(): Promise<MadeBackup> {
    const { copies, facts } = await this.backup.cold(this.context);
    const streams: Buffer[] = [];
    for (const copy of copies) streams.push(await this.output(copy));
    const whole = { ...facts, users: [], databases: [] };
    return { stream: Buffer.concat(streams), facts: this.#factsOf(whole, false) };
  }

  /** What a copying program writes. */
  async output({ argv, okExitCodes, env }: CopyCommand): Promise<Buffer> {
    const { account, installed, paths } = this.context;
    const child = Bun.spawn(argv, {
      cwd: paths.dataDir,
      env: { ...installed.env, ...env, TZ: "UTC" },
      stdio: ["ignore", "pipe", "pipe"],
      ...account,
    });
    const [bytes, said] = await Promise.all([child.stdout.bytes(), child.stderr.text()]);
    if (!okExitCodes.includes(await child.exited)) throw new Error(`the copy failed: ${said}`);
    return Buffer.from(bytes);
  }

  /**
   * Unpacks a backup into the data folder, which has to be empty, and recovers it.
   * @throws what `EngineBackup.recover` throws; Error when the stream cannot be unpacked.
   */
  async restore(backup: MadeBackup, signal = new AbortController().signal): Promise<void> {
    await this.unpack(backup);
    await this.withRestore(backup, async (context) => await this.backup.recover(context), signal);
  }

  /** Unpacks a backup. @returns the exit code of the program. */
  async unpack({ stream, facts }: MadeBackup): Promise<number> {
    const { account, installed, paths } = this.context;
    const child = Bun.spawn(this.backup.unpack(facts, paths.dataDir, installed), {
      cwd: paths.dataDir,
      env: { ...installed.env, TZ: "UTC" },
      stdio: [stream, "ignore", "ignore"],
      ...account,
    });
    return await child.exited;
  }

  /** Does the work with the context of a restore of the data folder. */
  async withRestore<T>(
    { facts }: MadeBackup,
    work: (context: RestoreContext) => Promise<T>,
    signal = new AbortController().signal,
  ): Promise<T> {
    const { account, installed, limits, paths } = this.context;
    const workDir = join(this.folder.path, "work");
    mkdirSync(workDir, { mode: 0o700 });
    if (account !== null) chownSync(workDir, account.uid, account.gid);
    const start = (argv: string[], env: Record<string, string> = {}) => this.#start(argv, env, signal);
    const recovery = { kind: "immediate" as const };
    try {
      return await work({
        installed,
        dataDir: paths.dataDir,
        workDir,
        account,
        limits,
        facts,
        recovery,
        start,
        signal,
        progress: () => undefined,
      });
    } finally {
      rmSync(workDir, { recursive: true, force: true });
    }
  }

  /** Makes the data folder empty again, as a host does before it tries a restore again. */
  clear(): void {
    const { account, paths } = this.context;
    rmSync(paths.dataDir, { recursive: true, force: true });
    mkdirSync(paths.dataDir, { mode: 0o700 });
    if (account !== null) chownSync(paths.dataDir, account.uid, account.gid);
    chmodSync(paths.dataDir, 0o700);
  }

  #start(argv: string[], env: Record<string, string>, signal: AbortSignal): RestoreProcess {
    const { account, installed, paths } = this.context;
    const child = Bun.spawn(argv, {
      cwd: paths.dataDir,
      env: { ...installed.env, ...env, TZ: "UTC" },
      stdio: ["ignore", "ignore", "pipe"],
      signal,
      killSignal: "SIGKILL",
      ...account,
    });
    const exited = child.exited.then((code) => (child.signalCode === null ? code : null));
    return { pid: child.pid, stderr: child.stderr, exited, kill: (name) => child.kill(name) };
  }

  #factsOf(facts: Omit<BackupFacts, "engine" | "isHot" | "dataBytes">, isHot: boolean): BackupFacts {
    const { name, version } = this.context.installed;
    const major = this.#engine.majorOf(version);
    return { ...facts, engine: { name, version, major }, isHot, dataBytes: 0 };
  }
}

/** The user that the host would give the instance. */
function accountFor({ exposure }: InstanceSpec): Account | null {
  if (!canSwitchUsers() || exposure.port === null) return null;
  const uid = uidOfPort(exposure.port);
  return { uid, gid: uid };
}
