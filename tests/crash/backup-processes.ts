// A host and a keeper as processes of their own with fail points, which tests of backups kill and start again.
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { localDriver } from "../../src/drivers/local/index.ts";
import { hostSocket, instancesDir } from "../../src/host/os/layout.ts";
import { Failpoints, freshDataDir, pilviEnv, until } from "../support/pilvi/pilvi.ts";

const ROOT = resolve(import.meta.dir, "../..");
const FAILPOINTS = "--define=PILVI_FAILPOINTS:true";

export type BackupProcess = "host" | "keeper";

export class BackupProcesses {
  readonly failpoints = new Failpoints();
  readonly dataDir = freshDataDir();
  readonly driver = localDriver(hostSocket(this.dataDir));
  readonly #running: { [name in BackupProcess]?: Bun.Subprocess } = {};

  async start(): Promise<void> {
    await this.#startKeeper();
    await this.#startHost();
  }

  /** Kills a process, lets all others pass the armed fail point, and starts the process again. */
  async restart(name: BackupProcess): Promise<void> {
    this.#running[name]?.kill("SIGKILL");
    await this.#running[name]?.exited;
    this.failpoints.release();
    await (name === "host" ? this.#startHost() : this.#startKeeper());
  }

  folderOf(id: string): string {
    return join(instancesDir(this.dataDir), id);
  }

  async close(): Promise<void> {
    for (const child of Object.values(this.#running)) {
      child.kill("SIGKILL");
      await child.exited;
    }
    this.failpoints.close();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  async #startHost(): Promise<void> {
    this.#running.host = this.#spawn([join(ROOT, "src/main.ts"), "host"]);
    await until("the host answers", () => this.driver.offer().then(Boolean, () => false));
  }

  async #startKeeper(): Promise<void> {
    this.#running.keeper = this.#spawn([join(ROOT, "src/processes/commands/keeper-main.ts")]);
    // The first keeper comes before the first host.
    if (this.#running.host === undefined) return;
    await until("the keeper answers", () => this.driver.archives().then(Boolean, () => false));
  }

  #spawn(command: string[]): Bun.Subprocess {
    const env = { ...pilviEnv(this.dataDir, 1), ...this.failpoints.env, PILVI_LOG_LEVEL: "error" };
    return Bun.spawn([process.execPath, FAILPOINTS, ...command], {
      env,
      cwd: ROOT,
      stdio: ["ignore", "ignore", "ignore"],
    });
  }
}
