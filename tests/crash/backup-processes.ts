// A host and a keeper as processes of their own with fail points, which tests of backups kill and start again.
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { localDriver } from "../../src/drivers/local/index.ts";
import { hostSocket, instancesDir } from "../../src/host/os/layout.ts";
import { Failpoints, freshDataDir, pilviEnv, until } from "../support/pilvi/pilvi.ts";
import { enginePidsAt, killIfThere } from "../support/pilvi/processes.ts";

const ROOT = resolve(import.meta.dir, "../..");
const FAILPOINTS = "--define=PILVI_FAILPOINTS:true";

export type BackupProcess = "host" | "keeper";

/**
 * Who is killed in the middle of work on backups. The control plane has no part in it but its requests, which break off
 * when it is killed; `all` are the host, the keeper, the engine and the request at once.
 */
export type BackupVictim = BackupProcess | "engine" | "control" | "all";
export type BackupScenario = [place: string, victim: BackupVictim];

/** A request that is repeated until it is answered, as the control plane repeats its work. */
export type BackupRequest = (signal: AbortSignal) => Promise<unknown>;

export const ALL_VICTIMS: readonly BackupVictim[] = ["host", "keeper", "engine", "control", "all"];

/** Each place with each victim. */
export function scenariosOf(places: string[], victims = ALL_VICTIMS): BackupScenario[] {
  return places.flatMap((place) => victims.map((victim): BackupScenario => [place, victim]));
}

export class BackupProcesses {
  readonly failpoints = new Failpoints();
  readonly dataDir = freshDataDir();
  readonly driver = localDriver(hostSocket(this.dataDir));
  readonly #running: { [name in BackupProcess]?: Bun.Subprocess } = {};

  async start(): Promise<void> {
    await this.#startKeeper();
    await this.#startHost();
  }

  /** Kills processes, lets all others pass the armed fail point, and starts the processes again. */
  async restart(...names: BackupProcess[]): Promise<void> {
    for (const name of names) this.#running[name]?.kill("SIGKILL");
    for (const name of names) await this.#running[name]?.exited;
    this.failpoints.release();
    for (const name of names) await (name === "host" ? this.#startHost() : this.#startKeeper());
  }

  /**
   * Makes a request, and kills the victim at the place.
   * @param engines the folder of the instances whose engine is the victim; null for a place without an engine.
   */
  async interrupt(
    [place, victim]: BackupScenario,
    engines: string | null,
    ask: BackupRequest,
  ): Promise<void> {
    const client = new AbortController();
    this.failpoints.arm(place);
    const first = ask(client.signal).catch(() => null);
    await this.failpoints.reached();
    if (victim === "control" || victim === "all") client.abort();
    await this.kill(victim, engines);
    await first;
  }

  /** Kills the victim, whose request was broken off before, and lets all others pass the armed fail point. */
  async kill(victim: BackupVictim, engines: string | null): Promise<void> {
    if (engines !== null && (victim === "engine" || victim === "all"))
      for (const pid of enginePidsAt(engines)) killIfThere(pid);
    if (victim === "all") await this.restart("host", "keeper");
    else if (victim === "host" || victim === "keeper") await this.restart(victim);
    else this.failpoints.release();
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
