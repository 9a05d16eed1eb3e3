// A Valkey without Pilvi around it, with the configuration files of a Pilvi instance.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import { findEngines } from "../../src/engines/installed.ts";
import { type TestPilvi } from "../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../tests/support/pilvi/ports.ts";
import { addressOf } from "./caches.ts";
import type { CacheAddress } from "./first-pong.ts";

export class BareEngine {
  readonly address: CacheAddress;
  readonly #folder: string;
  readonly #command: string[];
  readonly #env: Record<string, string>;
  #process: Bun.Subprocess | null = null;

  private constructor(folder: string, command: string[], env: Record<string, string>, address: CacheAddress) {
    this.#folder = folder;
    this.#command = command;
    this.#env = env;
    this.address = address;
  }

  /** Copies the files of an available cache and replaces paths and port in them. */
  static async like(pilvi: TestPilvi, cache: CacheResource): Promise<BareEngine> {
    const model = join(pilvi.dataDir, "instances", cache.id);
    const name = `bare-${crypto.randomUUID()}`;
    const folder = join(pilvi.dataDir, name);
    const port = freePort();
    cpSync(join(model, "conf"), join(folder, "conf"), { recursive: true });
    for (const file of readdirSync(join(folder, "conf"))) {
      const path = join(folder, "conf", file);
      const text = readFileSync(path, "utf8").replaceAll(model, folder);
      writeFileSync(path, text.replace(/^port \d+$/m, `port ${port}`));
    }
    const engines = await findEngines(pilvi.env.PILVI_ENGINES_DIR ?? "");
    const engine = engines.find((each) => each.name === cache.meta.engine?.name);
    if (engine === undefined) throw new Error("the cache's engine is not installed");
    const command = [engine.program, join(folder, "conf", "engine.conf")];
    return new BareEngine(folder, command, { ...engine.env, TZ: "UTC" }, { ...addressOf(cache), port });
  }

  get pid(): number {
    if (this.#process === null) throw new Error("this engine does not run");
    return this.#process.pid;
  }

  /** Resolves when the process has ended. */
  get exited(): Promise<unknown> {
    return this.#process?.exited ?? Promise.resolve();
  }

  /** Makes the empty folders of a new instance; not a part of the measurement. */
  prepare(): void {
    for (const name of ["data", "run"]) {
      rmSync(join(this.#folder, name), { recursive: true, force: true });
      mkdirSync(join(this.#folder, name));
    }
  }

  /** Starts the process; call `prepare` before. */
  spawn(): void {
    this.#process = Bun.spawn(this.#command, {
      cwd: join(this.#folder, "data"),
      env: this.#env,
      stdio: ["ignore", "ignore", "ignore"],
    });
  }

  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.exited;
    this.#process = null;
  }
}
