// One instance: brought to its wish by steps that can each be run again, watched, restarted when its engine dies, put to sleep.
import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { InstanceSpec, Observation } from "../../drivers/driver.ts";
import { PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import { Mutex } from "../../lib/mutex.ts";
import { Condition } from "../manifest/instance-state.ts";
import { Contents } from "../engine/contents.ts";
import { chooseEngine } from "../engine/context.ts";
import type { EngineProcess } from "../engine/engine-process.ts";
import { InstanceAddress } from "../engine/instance-address.ts";
import { deleteFolder, ensureInstanceFolder, instanceFolder, type InstanceFolder } from "../os/layout.ts";
import { ManifestFile } from "../manifest/manifest-file.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { readPersistedState } from "./persisted-state.ts";
import { RestartPolicy } from "../engine/restart-policy.ts";
import type { EngineRunner, Runnable } from "../engine/runner.ts";
import { FailureHandler } from "../engine/failure-handler.ts";
import { SleepCycle } from "../sleep/sleep-cycle.ts";
import type { InstanceDependencies } from "./dependencies.ts";
import { manifestFor } from "../manifest/spec-change.ts";

export class Instance {
  readonly id: string;
  readonly sleep: SleepCycle;
  readonly #deps: InstanceDependencies;
  readonly #log: Log;
  readonly #folder: InstanceFolder;
  readonly #file: ManifestFile;
  readonly #tasks = new Mutex();
  readonly #condition: Condition;
  readonly #runner: EngineRunner;
  readonly #address: InstanceAddress;
  readonly #restartPolicy = new RestartPolicy(() => void this.#tasks.run(() => this.#bringUp()));
  readonly setbacks: FailureHandler;
  readonly #contents: Contents;
  /** Aborted for good when the engine is to be ended or let go: no start may be waited for any more. */
  readonly #leaving = new AbortController();
  #unusable: string | null = null;
  #suspension: Promise<Observation> | null = null;

  constructor(id: string, deps: InstanceDependencies) {
    this.id = id;
    this.#deps = deps;
    this.#log = deps.log.child({ instance: id });
    this.#folder = instanceFolder(deps.settings.dataDir, id);
    this.#file = new ManifestFile(this.#folder.manifest);
    this.#condition = new Condition(() => {
      this.sleep.tell();
      deps.onChange(this.observe());
    });
    const { settings, slots, gateway, addresses } = deps;
    const own = { id, folder: this.#folder, file: this.#file, tasks: this.#tasks };
    const told = { log: this.#log, condition: this.#condition, gateway, leaving: this.#leaving.signal };
    const shared = { settings, ...own, ...told };
    this.#runner = deps.runner({ ...shared, slots, onEnded: (ended) => this.#ended(ended) });
    const parts = { ...shared, runner: this.#runner };
    this.#address = new InstanceAddress({ ...parts, addresses });
    this.setbacks = new FailureHandler({ ...parts, restarts: this.#restartPolicy });
    this.#contents = new Contents(parts);
    this.sleep = new SleepCycle({
      ...parts,
      address: this.#address,
      isApplied: () => this.#contents.isApplied,
      onEndedInVain: (error) => this.setbacks.stoppedWithoutSleep(error),
    });
  }

  observe(): Observation {
    const seen = this.#condition.observe(this.id, this.#runner, this.sleep.observe());
    return { ...seen, ...this.#contents.observe() };
  }

  /** Whether an engine of this instance runs that is known. */
  get hasProcess(): boolean {
    return this.#runner.process !== null;
  }

  /** The engine that takes connections, and what it runs with. @throws PublicError when none does. */
  get running(): Runnable {
    const { runnable } = this.#runner;
    if (!this.#runs || runnable === null) throw new PublicError(`${this.id} does not run.`);
    return runnable;
  }

  /**
   * Makes the instance as the spec says; resolves when it runs, sleeps, or could not be started.
   * @throws PublicError when it runs on as it was before.
   */
  ensure(spec: InstanceSpec): Promise<Observation> {
    return this.#tasks.run(async () => {
      if (this.#unusable !== null) throw new PublicError(this.#unusable);
      if (this.#file.manifest?.wish === "removed") throw new PublicError(`${this.id} is being removed.`);
      const isChanged = !isDeepStrictEqual(this.#file.manifest?.spec, spec);
      const recorded = isChanged ? await this.#record(spec) : undefined;
      await this.#bringUp();
      await recorded?.durable;
      // Whoever is told that it runs takes the wish for fulfilled.
      if (this.#runs && !this.#contents.isApplied && !this.#contents.isPartial)
        throw new PublicError(this.#condition.lastError ?? `${this.id} is being let go.`);
      return this.observe();
    });
  }

  /** Puts it to sleep as soon as nothing is under way, once however many ask. @throws PublicError that says what keeps it awake. */
  suspend(): Promise<Observation> {
    return (this.#suspension ??= this.#tasks
      .run(() => this.sleep.fallAsleep("asked"))
      .then(() => this.observe())
      .finally(() => (this.#suspension = null)));
  }

  /** Somebody needs the engine: it is started unless it runs, once however many ask. */
  wake(): void {
    const askedAtMs = performance.now();
    this.sleep.interrupt();
    this.sleep.once("wake", () => this.#bringUp(askedAtMs));
  }

  /** Stops the engine at once and deletes everything; what is being thrown away need not be saved. */
  remove(): Promise<void> {
    this.release();
    // What waits for the engine, such as for what a customer has locked in it, is not waited for in turn.
    this.#runner.kill();
    return this.#tasks.run(async () => {
      if (this.#file.manifest === null && !existsSync(this.#folder.path)) return;
      if (this.#file.manifest?.wish === "present") await this.#file.change({ wish: "removed" });
      this.#condition.become("removing");
      await failpoint("host.remove.marked");
      const withdrawn = this.#deps.gateway.withdraw(this.id);
      await this.#runner.stop("SIGKILL");
      await failpoint("host.remove.stopped");
      await withdrawn;
      this.#address.drop();
      await deleteFolder(this.#folder);
      this.#file.forget();
      this.#runner.forget();
      this.#condition.become("absent");
    });
  }

  /**
   * Reads what an earlier host left here, and finds the engine if it still runs.
   * @returns false when there is nothing to take up.
   */
  load(holders: Map<string, number[]>): boolean {
    const manifest = readPersistedState(this.id, this.#file, this.#folder, this.#log);
    if (manifest === null) return false;
    if ("unusable" in manifest) {
      this.#unusable = manifest.unusable;
      this.#condition.fail(this.#unusable);
      return false;
    }
    this.#runner.find(holders);
    if (manifest.wish === "removed") this.#condition.become("removing");
    else this.#condition.become(manifest.sleep.isAsleep && !this.hasProcess ? "asleep" : "starting");
    this.sleep.loaded();
    return true;
  }

  /** Goes on with what was loaded: an engine that runs is kept, one that is to run is started, a removal is finished. */
  async resume(): Promise<void> {
    if (this.#file.manifest?.wish === "removed") {
      return await this.remove().catch((error: unknown) =>
        this.#log.error({ error }, "a removal could not be finished"),
      );
    }
    await this.#tasks.run(async () => {
      if (this.#file.isAsleep) await this.sleep.resume(() => this.#bringUp());
      await this.#bringUp();
    });
  }

  /** Ends the engine cleanly and keeps it ended until the host starts anew. */
  close(): Promise<void> {
    this.release();
    return this.#tasks.run(async () => {
      await this.#runner.stop().then(
        (hasEnded) => this.#stopped(hasEnded),
        (error: unknown) => this.#log.error({ error }, "engine could not be stopped"),
      );
    });
  }

  /** Lets the engine run on and stops caring for it. */
  release(): void {
    this.#leaving.abort();
    this.#restartPolicy.cancel();
    this.sleep.interrupt();
  }

  async #record(spec: InstanceSpec): Promise<{ durable: Promise<void> }> {
    const former = this.#file.manifest;
    const engine = former?.engine ?? (await chooseEngine(this.#deps.settings, spec));
    ensureInstanceFolder(this.#folder);
    await failpoint("host.ensure.folder");
    const manifest = manifestFor(spec, engine, former);
    // The disk may take its time while the engine starts.
    const durable = this.#file.replace(manifest);
    this.sleep.recorded(former);
    // What it will have when it wakes is told of one that sleeps on; of all others it is found out as they start.
    if (manifest.sleep.isAsleep) await this.#runner.choose(manifest);
    await failpoint("host.ensure.manifest");
    // Another spec may work where the former did not; the same one is no reason to start a failing engine sooner.
    this.#restartPolicy.cancel();
    this.#contents.outdate();
    return { durable };
  }

  /**
   * The flat list of steps to a running engine. Never throws: what went wrong is observed, and tried again.
   * @param askedAtMs when a client asked for it; without one, an instance that sleeps is left asleep.
   */
  async #bringUp(askedAtMs?: number): Promise<void> {
    if (!(await this.#restartPolicy.begin(askedAtMs !== undefined))) return;
    const { manifest } = this.#file;
    if (manifest === null || manifest.wish === "removed" || this.#leaving.signal.aborted) return;
    // What the manifest says is behind as long as it cannot be written.
    const wasAsleep = this.#condition.state === "asleep" || (this.#address.isMissing && !this.hasProcess);
    const isAsleep = manifest.sleep.isAsleep && wasAsleep;
    try {
      await this.#address.hold();
      if (isAsleep && askedAtMs === undefined) return this.#condition.sleepOn();
      if (this.#runs && this.#contents.isApplied) return;
      const durable = this.sleep.beginStart(askedAtMs);
      await failpoint("host.start.noted");
      const { runnable, process } = await this.#ensureRunning(manifest, askedAtMs !== undefined);
      await failpoint("host.ensure.ready");
      const isDataNew = await this.#contents.apply(runnable, process, manifest.isSettled);
      await durable;
      this.#runner.limit(runnable, process);
      this.#contents.applied();
      this.setbacks.over();
      this.sleep.started(isDataNew);
    } catch (error) {
      this.setbacks.failed(error);
    } finally {
      this.#address.settle();
    }
  }

  get #runs(): boolean {
    return this.hasProcess && this.#condition.state === "running";
  }

  async #ensureRunning(
    manifest: Manifest,
    isUrgent: boolean,
  ): Promise<{ runnable: Runnable; process: EngineProcess }> {
    const runnable = await this.#runner.choose(manifest);
    if (manifest.isReplaced) await this.#stopPrevious(runnable);
    const found = this.#runner.process;
    if (found === null) return await this.#start(isUrgent);
    this.#address.admit();
    if (this.#condition.state !== "running") {
      this.#condition.become("starting");
      await this.#runner.untilReady(runnable, found);
    }
    return { runnable, process: found };
  }

  /** An engine reads its files at its start only: an engine with other files has to end. @throws UnsavedDataError when it goes on. */
  async #stopPrevious(runnable: Runnable): Promise<void> {
    if (!this.#runner.isAsWritten(runnable)) this.#stopped(await this.#runner.stopPrevious(runnable));
    await this.#file.change({ isReplaced: false });
  }

  async #start(isUrgent: boolean): Promise<{ runnable: Runnable; process: EngineProcess }> {
    // The gateway hears of the start of one that sleeps when there is a process to wait for.
    if (this.#condition.state !== "asleep") this.#condition.become("starting");
    await failpoint("host.start.due");
    const leave = await this.#deps.starts.enter(isUrgent);
    try {
      await this.sleep.takeAddress();
      const { manifest } = this.#file;
      if (manifest === null) throw new PublicError(`${this.id} is gone.`);
      const runnable = await this.#runner.choose(manifest);
      const process = await this.#runner.start(runnable);
      this.sleep.spawned();
      await this.#runner.untilReady(runnable, process);
      this.sleep.ready();
      return { runnable, process };
    } finally {
      leave();
    }
  }

  #stopped(hasEnded: boolean): void {
    if (hasEnded && this.#condition.state === "running") this.#condition.become("stopped");
  }

  #ended(ended: EngineProcess): void {
    this.#contents.outdate();
    this.setbacks.ended(ended);
  }
}
