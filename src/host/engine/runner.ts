// Runs the engine of one instance: chooses, starts, finds, awaits and stops it, whatever the engine is wanted for.
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { RunnerJournal } from "../journal/instance-journal.ts";
import type { DatabaseFault, Engine, EngineContext, MadeDatabases } from "../../engines/engine.ts";
import type { InstalledEngine } from "../../engines/installed.ts";
import { PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { socketGroupOf } from "../os/accounts.ts";
import { ensureFirstData } from "../provisioning/data-directory.ts";
import { emptyForRebuild, isRebuildDue } from "../provisioning/rebuild.ts";
import { dissolve, killGroup, limit, oomKills } from "../os/cgroup.ts";
import { applyTo } from "./applied-files.ts";
import { Confinement } from "./confinement.ts";
import { Choice } from "./choice.ts";
import { engineOfProcess, isConfigWritten, writeConfig } from "./context.ts";
import type { EndOrder } from "./end-order.ts";
import { Ending } from "./ending.ts";
import { findEngine, howToStop, killEngine, startEngine, type EngineProcess } from "./engine-process.ts";
import { trimLogs } from "../os/engine-logs.ts";
import { ensureEngineFolders, giveData } from "../os/layout.ts";
import { readTail } from "./log-follower.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { untilReady } from "./readiness.ts";
import { cannotSave } from "./saving.ts";
import { UnsavedDataError } from "./failure-handler.ts";
import type { Runnable, RunnerParts, StopOptions } from "./runner-parts.ts";

/** The engine's runner, as the rest of the host sees it. */
export type EngineRunner = Pick<Runner, keyof Runner>;

export class Runner {
  readonly #parts: RunnerParts;
  readonly #journal: RunnerJournal;
  readonly #choice: Choice;
  /** The context that folders, data and files were made for, so that a start need not; null until all of them are. */
  #prepared: EngineContext<InstanceSpec> | null = null;
  #process: EngineProcess | null = null;
  readonly #ending: Ending;
  /** The process that the host has killed itself, whose end is no crash. */
  #killed: EngineProcess | null = null;
  /** The program of a process that was found; null when it cannot be determined. */
  #foundAs: InstalledEngine | null = null;
  /** Whether the data was made for the engine that runs, and neither a client nor the host has changed it since. */
  #isDataNew = false;
  readonly #confinement: Confinement;

  constructor(parts: RunnerParts, journal: RunnerJournal) {
    this.#parts = parts;
    this.#journal = journal;
    this.#choice = new Choice(parts);
    this.#ending = new Ending(parts);
    this.#confinement = new Confinement(parts);
  }

  /** The running process, when the host knows it. */
  get process(): EngineProcess | null {
    return this.#process;
  }

  /** The process that runs or is being ended: it still writes and takes resources. */
  get liveProcess(): EngineProcess | null {
    return this.#process ?? this.#ending.process;
  }

  /** Whether an earlier host has asked the running process to end. */
  get isEnding(): boolean {
    return this.#process !== null && this.#ending.order.leftMs(this.#process) !== null;
  }

  /** The order to end the instance. */
  get endOrder(): Pick<EndOrder, "isFinal" | "takeBack"> {
    return this.#ending.order;
  }

  /** The engine with its context, once it was chosen. */
  get runnable(): Runnable | null {
    return this.#choice.runnable;
  }

  /** The engine that runs, or would run next. A newer engine that was installed since takes over at the next start. */
  get installed(): InstalledEngine | null {
    const found = this.#process?.wasFound === true ? this.#foundAs : null;
    return found ?? this.runnable?.context.installed ?? null;
  }

  /**
   * Chooses the engine and the context for a manifest. A start takes the program and the certificate of now.
   * @throws PublicError when this host does not have the engine.
   */
  async choose(manifest: Manifest): Promise<Runnable> {
    return await this.#choice.of(manifest, this.#process !== null);
  }

  /** Whether the configuration files, which hold all settings that need a restart, are as a start would write them. */
  isAsWritten({ engine, context }: Runnable): boolean {
    return isConfigWritten(engine, context);
  }

  /** Takes up an engine that an earlier host started. */
  find(holders: Map<string, number[]>): void {
    const found = findEngine(this.#parts.folder, holders);
    this.#ending.order.read(found);
    this.#journal.found(found);
    this.#process = this.#watch(found);
  }

  /** Starts the engine, and prepares its folders, data and files first. */
  async start(runnable: Runnable): Promise<EngineProcess> {
    const { folder } = this.#parts;
    const { engine, context } = runnable;
    await this.#confinement.expected(runnable);
    if (this.#prepared !== context || isRebuildDue(folder)) {
      this.#prepared = null;
      await giveData(folder, context.account);
      ensureEngineFolders(folder, context.account, socketGroupOf(context.spec));
      await emptyForRebuild(folder);
      await failpoint("host.ensure.folders");
      this.#isDataNew = await ensureFirstData(engine, context, this.#parts, (pid) =>
        this.#confinement.builder(pid, runnable),
      );
      engine.prepare?.(context);
      writeConfig(engine, context);
      await failpoint("host.ensure.config");
    }
    engine.beforeStart?.(context);
    await this.#parts.beforeStart?.(context);
    this.#ending.order.forget();
    const started = await startEngine(engine, context, folder, (pid) =>
      this.#confinement.started(pid, runnable),
    );
    this.#prepared = context;
    this.#journal.started(started);
    this.#process = this.#watch(started);
    await failpoint("host.start.spawned");
    return started;
  }

  /**
   * Waits until the engine takes connections.
   * @throws PublicError when it ended before, or was killed because it did not become ready in time.
   */
  async untilReady({ engine, context }: Runnable, running: EngineProcess): Promise<void> {
    const { settings, folder, leaving } = this.#parts;
    if (running.wasFound) {
      this.#foundAs = await engineOfProcess(settings, running.pid);
      this.#confinement.found(running, { engine, context });
    }
    const readiness = await untilReady(engine, context, folder, running, leaving);
    // The instance counts as running, and is served behind the gateway, only once its limits are in force.
    const fault = await this.#confinement.fault;
    if (readiness === "ready" && fault === null) return;
    // Its files may be the cause of the failure.
    this.#prepared = null;
    if (readiness === "ended") throw this.#endedEarly(engine, running);
    if (readiness === "given-up") throw new PublicError("The engine is being stopped.");
    const delay = engine.explainDelay?.(context, this.#logOf(running));
    await this.stop({ signal: "SIGKILL" });
    if (fault !== null) throw fault;
    throw new PublicError(delay ?? "The engine did not become ready in time.");
  }

  /**
   * Brings users and databases to what the spec says.
   * @returns whether the data was new and this the first time, and which databases failed.
   * @throws when the engine refuses, or ended meanwhile.
   */
  async apply(
    { engine, context }: Runnable,
    running: EngineProcess,
    made: MadeDatabases,
  ): Promise<{ isDataNew: boolean; faults: DatabaseFault[] }> {
    const isDataNew = this.#isDataNew;
    this.#isDataNew = false;
    const faults = await applyTo(engine, context, { isNew: isDataNew, made });
    await failpoint("host.ensure.applied");
    this.#assertRuns(engine, running);
    return { isDataNew, faults };
  }

  /** The number of processes of the instance that the kernel has killed for lack of memory since its last stop. */
  oomKills(): number {
    return this.#journal.noteOomKills(oomKills(this.#parts.settings.cgroups, this.#parts.id));
  }

  /** Drops all that was chosen and prepared, because the instance is gone. */
  forget(): void {
    this.#choice.forget();
    this.#prepared = null;
    this.#ending.order.forget();
  }

  /** Applies the processor limit from now on. @throws PublicError when the engine has ended meanwhile. */
  limit({ engine, context }: Runnable, running: EngineProcess): void {
    this.#assertRuns(engine, running);
    limit(this.#parts.settings.cgroups, this.#parts.id, context.limits);
  }

  /** @throws PublicError when another process runs, or no process. */
  #assertRuns(engine: Engine, running: EngineProcess): void {
    if (this.#process !== running) throw this.#endedEarly(engine, running);
  }

  /**
   * Stops the running engine, by force after a timeout.
   * @returns whether an engine ran.
   * @throws when a process of the instance cannot be ended; nothing of it may be deleted then.
   */
  async stop({ isFinal = false, ...how }: StopOptions = {}): Promise<boolean> {
    const { folder, file } = this.#parts;
    const running = this.#process ?? findEngine(folder);
    this.#process = null;
    await this.#ending.stop(running, howToStop(file.manifest, how), isFinal);
    if (running !== null) this.#journal.ended("stopped");
    await this.#endGroup();
    return running !== null;
  }

  /** A customer's program may have given its lock away; its group holds it all the same. */
  async #endGroup(): Promise<void> {
    const { id, settings } = this.#parts;
    // A start that was cut short may still be making the group.
    await this.#confinement.fault;
    // An instance of an earlier host may be an application that nothing was chosen for yet.
    const isApplication = this.runnable === null || this.runnable.context.application !== undefined;
    if (isApplication && !(await killGroup(settings.cgroups, id)))
      throw new PublicError("Processes of the instance do not end.");
    await dissolve(settings.cgroups, id);
  }

  /** Kills the known process at once, which ends every wait for its answer; `stop` does the rest. */
  kill(): void {
    const process = this.liveProcess;
    if (process === null) return;
    this.#killed = process;
    killEngine(process);
  }

  /**
   * Stops the running engine for a restart. An engine that may hold unsaved data is never forced.
   * @returns whether an engine ran.
   * @throws UnsavedDataError when the engine cannot save, and goes on.
   */
  async stopPrevious(runnable: Runnable): Promise<boolean> {
    const running = this.#process;
    if (running === null || runnable.engine.shutdownRefusedPattern === undefined) return await this.stop();
    if (await cannotSave(runnable)) throw new UnsavedDataError();
    if (!(await this.end(runnable, running))) throw new UnsavedDataError();
    return true;
  }

  /**
   * Stops the running engine with all its data saved, never by force.
   * @returns false when the engine says that it cannot save, and goes on.
   * @throws PublicError when the wait was given up.
   */
  async end({ engine }: Runnable, running: EngineProcess): Promise<boolean> {
    const { leaving } = this.#parts;
    // A listener on an already aborted signal would never be called.
    if (leaving.aborted) throw new PublicError("The engine is being stopped.");
    this.#process = null;
    const hasEnded = await this.#ending.cleanly(engine, running, leaving);
    if (hasEnded) this.#journal.ended("stopped");
    if (hasEnded) await this.#endGroup();
    else this.#process = running;
    if (!hasEnded && leaving.aborted) throw new PublicError("The engine is being stopped.");
    return hasEnded;
  }

  #endedEarly(engine: Engine, ended: EngineProcess): PublicError {
    return new PublicError(engine.explain(this.#logOf(ended)));
  }

  /** Customers read messages that are made of it, and host paths must not reach them. */
  #logOf({ logStartsAt }: EngineProcess): string {
    const { log, path } = this.#parts.folder;
    return readTail(log, logStartsAt).replaceAll(`${path}/`, "");
  }

  #ended(ended: EngineProcess): void {
    const { id, settings, log } = this.#parts;
    // Its last words may be many, and nothing else trims the log of an engine at rest.
    trimLogs([{ id }], settings.dataDir, log);
    if (this.#process !== ended) return;
    this.#process = null;
    this.#journal.ended(this.#killed === ended || this.#ending.order.isFor(ended) ? "stopped" : "crashed");
    this.#parts.onEnded(ended);
  }

  /** Watches the exit of a process that was started or found. */
  #watch<Found extends EngineProcess | null>(found: Found): Found {
    void found?.exited.then(() => this.#ended(found));
    return found;
  }
}
