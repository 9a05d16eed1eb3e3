// One instance: brought to its wish by steps that can each be run again, watched, and restarted when its engine dies.
import { existsSync, rmSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { InstanceSpec, Observation } from "../drivers/driver.ts";
import { engineFor } from "../engines/index.ts";
import type { Engine, EngineContext } from "../engines/engine.ts";
import { PublicError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { Log } from "../lib/log.ts";
import { Mutex } from "../lib/mutex.ts";
import { newPassword } from "../lib/secrets.ts";
import { ensureFirstData } from "./build-aside.ts";
import { confine, dissolve, limit } from "./cgroup.ts";
import { Condition } from "./condition.ts";
import { chooseEngine, contextOf, isConfigWritten, writeConfig, type HostSettings } from "./context.ts";
import { findEngine, startEngine, stopEngine, type EngineProcess } from "./engine-process.ts";
import {
  deleteInstanceFolder,
  ensureEngineFolders,
  ensureInstanceFolder,
  instanceFolder,
  type InstanceFolder,
} from "./layout.ts";
import { holdersOf } from "./locks.ts";
import { readTail } from "./log-follower.ts";
import { readManifest, writeManifest, type Manifest } from "./manifest.ts";
import { untilReady } from "./readiness.ts";
import { Restarts } from "./restarts.ts";
import type { Slots } from "./slots.ts";

export class Instance {
  readonly id: string;
  readonly #settings: HostSettings;
  readonly #slots: Slots;
  readonly #log: Log;
  readonly #folder: InstanceFolder;
  readonly #tasks = new Mutex();
  readonly #condition: Condition;
  readonly #restarts = new Restarts(() => void this.#tasks.run(() => this.#bringUp()));
  /** Aborted for good when the engine is to be ended or let go: no start may be waited for any more. */
  readonly #leaving = new AbortController();
  #manifest: Manifest | null = null;
  #context: EngineContext<InstanceSpec> | null = null;
  #engine: Engine | null = null;
  #process: EngineProcess | null = null;
  /** Whether the running engine has the users and databases of the spec. */
  #isApplied = false;
  /** Whether the data was made for the engine that runs, and nobody, not even we, has changed anything in it. */
  #isDataNew = false;
  #unusable: string | null = null;

  constructor(
    id: string,
    settings: HostSettings,
    slots: Slots,
    log: Log,
    onChange: (observation: Observation) => void,
  ) {
    this.id = id;
    this.#settings = settings;
    this.#slots = slots;
    this.#log = log.child({ instance: id });
    this.#condition = new Condition(() => onChange(this.observe()));
    this.#folder = instanceFolder(settings.dataDir, id);
  }

  observe(): Observation {
    return this.#condition.observe(this.id, this.#context);
  }

  /** Whether an engine of this instance runs that is known. */
  get hasProcess(): boolean {
    return this.#process !== null;
  }

  /** The engine that takes connections, and what it runs with. @throws PublicError when none does. */
  get running(): { engine: Engine; context: EngineContext<InstanceSpec> } {
    const [engine, context] = [this.#engine, this.#context];
    if (!this.#runs || engine === null || context === null) throw new PublicError(`${this.id} does not run.`);
    return { engine, context };
  }

  /** Makes the instance as the spec says; resolves when it runs or could not be started. */
  ensure(spec: InstanceSpec): Promise<Observation> {
    return this.#tasks.run(async () => {
      if (this.#unusable !== null) throw new PublicError(this.#unusable);
      if (this.#manifest?.wish === "removed") throw new PublicError(`${this.id} is being removed.`);
      const isChanged = !isDeepStrictEqual(this.#manifest?.spec, spec);
      const recorded = isChanged ? await this.#record(spec) : undefined;
      if (isChanged) {
        // Another spec may work where the former did not; the same one is no reason to start a failing engine sooner.
        this.#restarts.cancel();
        this.#isApplied = false;
      }
      await this.#bringUp();
      await recorded?.durable;
      return this.observe();
    });
  }

  /** Stops the engine at once and deletes everything; what is being thrown away need not be saved. */
  remove(): Promise<void> {
    this.release();
    return this.#tasks.run(async () => {
      if (this.#manifest === null && !existsSync(this.#folder.path)) return;
      if (this.#manifest !== null && this.#manifest.wish !== "removed") {
        const marked = { ...this.#manifest, wish: "removed" as const };
        await writeManifest(this.#folder.manifest, marked);
        this.#manifest = marked;
      }
      this.#condition.become("removing");
      await failpoint("host.remove.marked");
      await this.#stop("SIGKILL");
      await failpoint("host.remove.stopped");
      await deleteInstanceFolder(this.#folder);
      this.#manifest = null;
      this.#context = null;
      this.#condition.become("absent");
    });
  }

  /**
   * Reads what an earlier host left here, and finds the engine if it still runs.
   * @returns false when there is nothing to take up.
   */
  load(holders: Map<string, number[]>): boolean {
    try {
      this.#manifest = readManifest(this.#folder.manifest);
    } catch (error) {
      this.#unusable = `The manifest of ${this.id} on the host cannot be understood; its data was left alone.`;
      this.#log.error({ error }, "the manifest cannot be understood");
      this.#condition.fail(this.#unusable);
      return false;
    }
    if (this.#manifest === null) {
      // A create was cut short before its wish was written down, or a removal just before its end.
      if (!existsSync(this.#folder.data)) rmSync(this.#folder.path, { recursive: true, force: true });
      else this.#log.error("a folder with data has no manifest and was left alone");
      return false;
    }
    this.#process = this.#watch(findEngine(this.#folder, holders));
    this.#condition.become(this.#manifest.wish === "removed" ? "removing" : "starting");
    return true;
  }

  /** Goes on with what was loaded: an engine that runs is kept, one that does not is started, a removal is finished. */
  async resume(): Promise<void> {
    if (this.#manifest?.wish !== "removed") return await this.#tasks.run(() => this.#bringUp());
    await this.remove().catch((error: unknown) =>
      this.#log.error({ error }, "a removal could not be finished"),
    );
  }

  /** Ends the engine cleanly and keeps it ended until the host starts anew. */
  close(): Promise<void> {
    this.release();
    return this.#tasks.run(() =>
      this.#stop().catch((error: unknown) => this.#log.error({ error }, "engine could not be stopped")),
    );
  }

  /** Lets the engine run on and stops caring for it. */
  release(): void {
    this.#leaving.abort();
    this.#restarts.cancel();
  }

  async #record(spec: InstanceSpec): Promise<{ durable: Promise<void> }> {
    const engine = this.#manifest?.engine ?? (await chooseEngine(this.#settings, spec));
    ensureInstanceFolder(this.#folder);
    await failpoint("host.ensure.folder");
    const adminPassword = this.#manifest?.adminPassword ?? newPassword();
    // An engine that was started with the former spec may have to be started anew, which a later host must know as well.
    const isReplaced = this.#manifest !== null;
    const manifest = { spec, wish: "present" as const, engine, adminPassword, isReplaced };
    const durable = writeManifest(this.#folder.manifest, manifest);
    // The disk may take its time while the engine starts; a failure is still seen by whoever awaits it.
    durable.catch(() => undefined);
    this.#manifest = manifest;
    await failpoint("host.ensure.manifest");
    return { durable };
  }

  /** The flat list of steps to a running engine. Never throws: what went wrong is observed, and tried again. */
  async #bringUp(): Promise<void> {
    if (!(await this.#restarts.begin())) return;
    const manifest = this.#manifest;
    if (manifest === null || manifest.wish === "removed" || this.#leaving.signal.aborted) return;
    if (this.#runs && this.#isApplied) return;
    try {
      const { context, engine } = await this.#ensureContext(manifest);
      if (manifest.isReplaced) await this.#endFormer(manifest, engine, context);
      const running = this.#runs ? this.#process : await this.#ensureRunning(engine, context);
      await failpoint("host.ensure.ready");
      const isDataNew = this.#isDataNew;
      this.#isDataNew = false;
      await engine.apply?.(context, isDataNew);
      await failpoint("host.ensure.applied");
      // It may have ended while it was being asked.
      if (running === null || this.#process !== running) throw this.#endedEarly(engine);
      this.#isApplied = true;
      limit(this.#settings.cgroups, this.id, context.limits);
      this.#condition.lastError = null;
      this.#condition.become("running");
    } catch (error) {
      this.#fail(error);
    }
  }

  get #runs(): boolean {
    return this.#process !== null && this.#condition.state === "running";
  }

  /** What an engine reads at its start only is in its files; one that has others than it would get now has to end. */
  async #endFormer(manifest: Manifest, engine: Engine, context: EngineContext<InstanceSpec>): Promise<void> {
    if (!isConfigWritten(engine, context)) await this.#stop();
    const ended = { ...manifest, isReplaced: false };
    await writeManifest(this.#folder.manifest, ended);
    this.#manifest = ended;
  }

  async #ensureRunning(engine: Engine, context: EngineContext<InstanceSpec>): Promise<EngineProcess> {
    this.#condition.become("starting");
    await failpoint("host.start.due");
    const isFresh = this.#process === null;
    const running = this.#process ?? (await this.#start(engine, context));
    // Also one that was found: whoever started it may have been killed before this was done.
    const pids = isFresh ? [running.pid] : holdersOf(this.#folder.lock);
    confine(this.#settings.cgroups, this.id, pids, context.limits);
    const start = { exited: running.exited, isFresh };
    const readiness = await untilReady(engine, context, this.#folder, start, this.#leaving.signal);
    if (readiness === "ready") return running;
    if (readiness === "ended") throw this.#endedEarly(engine);
    if (readiness === "given-up") throw new PublicError("The engine is being stopped.");
    await this.#stop("SIGKILL");
    throw new PublicError("The engine did not become ready in time.");
  }

  async #ensureContext(manifest: Manifest) {
    const engine = engineFor(manifest.engine.name, manifest.spec.kind);
    if (engine === undefined) throw new PublicError(`This host cannot run ${manifest.engine.name}.`);
    const context = await contextOf(this.#settings, manifest, engine, this.#folder);
    [this.#engine, this.#context] = [engine, context];
    return { engine, context };
  }

  async #start(engine: Engine, context: EngineContext<InstanceSpec>): Promise<EngineProcess> {
    ensureEngineFolders(this.#folder, context.account);
    await failpoint("host.ensure.folders");
    this.#isDataNew = await ensureFirstData(engine, context, this.#slots);
    writeConfig(engine, context);
    await failpoint("host.ensure.config");
    const started = await startEngine(engine, context, this.#folder);
    this.#process = this.#watch(started);
    await failpoint("host.start.spawned");
    return started;
  }

  #endedEarly(engine: Engine): PublicError {
    return new PublicError(engine.explain(readTail(this.#folder.log)));
  }

  /** Watches a process from here on, whether it was started or found. */
  #watch<Found extends EngineProcess | null>(found: Found): Found {
    void found?.exited.then(() => this.#ended(found));
    return found;
  }

  #ended(ended: EngineProcess): void {
    if (this.#process !== ended) return;
    this.#process = null;
    // Whoever starts it just now sees for himself that it ended.
    if (this.#leaving.signal.aborted || this.#condition.state !== "running") return;
    const ranMs = Date.now() - this.#condition.since.getTime();
    this.#condition.crashes += 1;
    this.#condition.lastError = "The engine ended unexpectedly and is being restarted.";
    this.#log.warn({ pid: ended.pid, crashes: this.#condition.crashes }, "engine ended unexpectedly");
    this.#condition.become("starting");
    this.#restarts.afterCrash(ranMs);
  }

  #fail(error: unknown): void {
    if (this.#leaving.signal.aborted) return;
    const reason = error instanceof PublicError ? error.message : "The host could not start the engine.";
    this.#log.error({ error, reason }, "engine could not be started");
    this.#condition.fail(reason);
    this.#restarts.afterFailure();
  }

  /** @throws when what holds the lock cannot be ended; nothing of the instance may be deleted then. */
  async #stop(signal?: NodeJS.Signals): Promise<void> {
    this.#restarts.cancel();
    const running = this.#process ?? findEngine(this.#folder);
    this.#process = null;
    const { stopSignal = "SIGTERM", stopTimeoutMs: timeoutMs = 20_000 } = this.#engine ?? {};
    await stopEngine(running, { signal: signal ?? stopSignal, timeoutMs }, this.#folder);
    await dissolve(this.#settings.cgroups, this.id);
    if (running !== null && this.#condition.state === "running") this.#condition.become("stopped");
  }
}
