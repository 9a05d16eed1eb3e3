// An engine without Pilvi around it, on a copy of the files of a finished Pilvi instance, reached at its unix socket.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { processesOf } from "../../tests/support/pilvi/databases.ts";
import type { TestPilvi } from "../../tests/support/pilvi/pilvi.ts";
import { childrenOf } from "./memory.ts";
import { socketOf } from "./sleepers.ts";

/** The files and the command of an instance that was stopped cleanly, kept for copies. */
export interface Model {
  /** The former place of the instance; the paths in its files and command begin with it. */
  formerFolder: string;
  folder: string;
  command: string[];
  env: Record<string, string>;
  owner: { uid: number; gid: number };
  /** The name of the socket in the folder `run`. */
  socketName: string;
}

/** Puts running instances aside as models, by their ids; Pilvi is stopped for it and started again. */
export async function takeModels(
  pilvi: TestPilvi,
  instances: readonly { id: string }[],
): Promise<Map<string, Model>> {
  const models = instances.map(({ id }): [string, Model] => {
    const formerFolder = join(pilvi.dataDir, "instances", id);
    const [pid] = processesOf(pilvi, id);
    if (pid === undefined) throw new Error(`${id} has no engine`);
    const { uid, gid } = statSync(join(formerFolder, "data"));
    const model: Model = {
      formerFolder,
      folder: join(pilvi.dataDir, `model-${id}`),
      command: wordsOf(pid, "cmdline"),
      env: Object.fromEntries(wordsOf(pid, "environ").map((word) => split(word, "="))),
      owner: { uid, gid },
      socketName: basename(socketOf(pilvi, { id })),
    };
    return [id, model];
  });
  await pilvi.stop();
  for (const [, { formerFolder, folder }] of models) {
    mkdirSync(folder);
    for (const name of ["conf", "data", "tmp"]) copyTree(join(formerFolder, name), join(folder, name));
  }
  await pilvi.start();
  return new Map(models);
}

export class BareInstance {
  /** The path of its socket. */
  readonly socket: string;
  readonly #model: Model;
  readonly #folder: string;
  readonly #settings: Record<string, string>;
  #process: Bun.Subprocess | null = null;

  /**
   * Call `prepare` before the first start.
   * @param settings lines to add to files of the configuration, by the files' names.
   */
  constructor(pilvi: TestPilvi, model: Model, settings: Record<string, string> = {}) {
    this.#model = model;
    this.#settings = settings;
    this.#folder = join(pilvi.dataDir, `bare-${crypto.randomUUID().slice(0, 8)}`);
    this.socket = join(this.#folder, "run", model.socketName);
  }

  /** All its processes: Postgres has several; empty when it has ended. */
  get pids(): number[] {
    const running = this.#process;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return [];
    return [running.pid, ...childrenOf(running.pid)];
  }

  /** Copies the model's files anew and waits until the disk has them; not a part of the measurement. */
  prepare(): void {
    const { folder, owner } = this.#model;
    rmSync(this.#folder, { recursive: true, force: true });
    for (const path of [this.#folder, join(this.#folder, "run")]) mkdirSync(path);
    chmodSync(this.#folder, 0o711);
    chownSync(join(this.#folder, "run"), owner.uid, owner.gid);
    for (const name of ["conf", "data", "tmp"]) copyTree(join(folder, name), join(this.#folder, name));
    this.#rewriteConfig();
    syncTree(this.#folder);
  }

  /** Starts the process; call `prepare` before. */
  spawn(): void {
    const { command, env, formerFolder, owner } = this.#model;
    this.#process = Bun.spawn(
      command.map((word) => word.replaceAll(formerFolder, this.#folder)),
      { cwd: join(this.#folder, "data"), env, stdio: ["ignore", "ignore", "ignore"], ...owner },
    );
  }

  /**
   * Ends the engine cleanly, so that `spawn` may follow without `prepare`.
   * @param signal the engine's signal for a clean end.
   */
  async stop(signal: NodeJS.Signals): Promise<void> {
    this.#process?.kill(signal);
    await this.#process?.exited;
    this.#process = null;
  }

  /** Kills the engine: the next start is on a new copy. */
  async kill(): Promise<void> {
    for (const pid of this.pids.toReversed()) killIfThere(pid);
    await this.#process?.exited;
    this.#process = null;
  }

  #rewriteConfig(): void {
    const conf = join(this.#folder, "conf");
    for (const name of readdirSync(conf)) {
      const text = readFileSync(join(conf, name), "utf8");
      const moved = text.replaceAll(this.#model.formerFolder, this.#folder);
      writeFileSync(join(conf, name), `${moved}${this.#settings[name] ?? ""}`);
    }
  }
}

/** Copies a tree with its owners and modes. */
function copyTree(from: string, to: string): void {
  const { status, stderr } = spawnSync("cp", ["--archive", from, to], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${from} could not be copied: ${stderr}`);
}

/** Has the kernel write a tree to the disk. */
function syncTree(folder: string): void {
  const { status, stderr } = spawnSync("sync", ["--file-system", folder], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${folder} could not be synced: ${stderr}`);
}

/** The words of a file of /proc that ends each with a zero byte. */
function wordsOf(pid: number, file: "cmdline" | "environ"): string[] {
  const words = readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0");
  return words.filter((word) => word !== "");
}

function split(word: string, separator: string): [string, string] {
  const index = word.indexOf(separator);
  return [word.slice(0, index), word.slice(index + separator.length)];
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended together with another process.
  }
}
