// One instance: brought to its wish by steps that can each be run again, watched, and restarted when its engine dies.
import { existsSync, rmSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { InstanceSpec, Limits, Observation } from "../drivers/driver.ts";
import { engineFor } from "../engines/index.ts";
import type { Engine, EngineContext } from "../engines/engine.ts";
import { backoffMs } from "../lib/backoff.ts";
import { messageOf, PublicError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { Log } from "../lib/log.ts";
import { Mutex } from "../lib/mutex.ts";
import { newPassword } from "../lib/secrets.ts";
import { ensureFirstData } from "./build-aside.ts";
import { confine, dissolve, limit, type CgroupBackend } from "./cgroup.ts";
import { chooseEngine, contextOf, isConfigWritten, writeConfig, type HostSettings } from "./context.ts";
import { findEngine, readyOrEnd, startEngine, stopEngine, type EngineProcess } from "./engine-process.ts";
import { ensureEngineFolders, ensureInstanceFolder, instanceFolder, type InstanceFolder } from "./layout.ts";
import { isLocked } from "./locks.ts";
import { readTail } from "./log-follower.ts";
import type { Slots } from "./slots.ts";
import { readManifest, writeManifest, type Manifest } from "./manifest.ts";

/** The first restart after a crash is immediate; the waits between further ones grow to the longest. */
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 30_000;
/** An engine that ran this long is not in a crash loop. */
const STEADY_MS = 1_000;

type State = Observation["state"];

export class Instance {
  readonly id: string;
  readonly #settings: HostSettings;
  readonly #slots: Slots;
  readonly #log: Log;
  readonly #onChange: (observation: Observation) => void;
  readonly #folder: InstanceFolder;
  readonly #tasks = new Mutex();
  #manifest: Manifest | null = null;
  #context: EngineContext<InstanceSpec> | null = null;
  #engine: Engine | null = null;
  #process: EngineProcess | null = null;
  #state: State = "absent";
  #since = new Date();
  #lastError: string | null = null;
  #crashes = 0;
  /** Whether the running engine has the users and databases of the spec. */
  #isApplied = false;
  #failedStarts = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isClosing = false;
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
    this.#onChange = onChange;
    this.#folder = instanceFolder(settings.dataDir, id);
  }

  observe(): Observation {
    return {
      id: this.id,
      state: this.#state,
      since: this.#since.toISOString(),
      engine:
        this.#context === null
          ? null
          : { name: this.#context.installed.name, version: this.#context.installed.version },
      limits: this.#context?.limits ?? null,
      lastError: this.#lastError,
      crashes: this.#crashes,
    };
  }

  /** Makes the instance as the spec says; resolves when it runs or could not be started. */
  ensure(spec: InstanceSpec): Promise<Observation> {
    return this.#tasks.run(async () => {
      if (this.#unusable !== null) throw new PublicError(this.#unusable);
      if (this.#manifest?.wish === "removed") throw new PublicError(`${this.id} is being removed.`);
      const former = this.#manifest;
      const changed = former === null || !isDeepStrictEqual(former.spec, spec);
      const recorded = changed ? await this.#record(spec) : undefined;
      if (changed) this.#isApplied = false;
      if (changed && former !== null && (await this.#needsRestart())) await this.#stop();
      await this.#bringUp();
      await recorded?.durable;
      return this.observe();
    });
  }

  /** Stops the engine at once and deletes everything; what is being thrown away need not be saved. */
  remove(): Promise<void> {
    return this.#tasks.run(async () => {
      if (this.#manifest === null && !existsSync(this.#folder.path)) return;
      if (this.#manifest !== null && this.#manifest.wish !== "removed") {
        this.#manifest = { ...this.#manifest, wish: "removed" };
        await writeManifest(this.#folder.manifest, this.#manifest);
      }
      this.#become("removing");
      await failpoint("host.remove.marked");
      await this.#stop("SIGKILL");
      await failpoint("host.remove.stopped");
      if (this.#settings.cgroups !== null) dissolve(this.#settings.cgroups, this.id);
      const { path, manifest, ...contents } = this.#folder;
      for (const each of Object.values(contents)) rmSync(each, { recursive: true, force: true });
      await failpoint("host.remove.emptied");
      // The manifest goes last: until then a host that starts knows what is to be done here.
      rmSync(manifest, { force: true });
      rmSync(path, { recursive: true, force: true });
      this.#manifest = null;
      this.#context = null;
      this.#become("absent");
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
      this.#fail(new PublicError(this.#unusable, error));
      return false;
    }
    if (this.#manifest === null) {
      // A create was cut short before its wish was written down, or a removal just before its end.
      if (!existsSync(this.#folder.data)) rmSync(this.#folder.path, { recursive: true, force: true });
      else this.#log.error("a folder with data has no manifest and was left alone");
      return false;
    }
    if (existsSync(this.#folder.lock)) this.#process = this.#adopt(findEngine(this.#folder, holders));
    return true;
  }

  /** Goes on with what was loaded: an engine that runs is kept, one that does not is started, a removal is finished. */
  async resume(): Promise<void> {
    if (this.#manifest?.wish === "removed") return await this.remove();
    await this.#tasks.run(() => this.#bringUp());
  }

  /** Ends the engine cleanly and keeps it ended until the host starts anew. */
  close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#retry);
    return this.#tasks.run(() => this.#stop());
  }

  /** Lets the engine run on and stops caring for it. */
  release(): void {
    this.#isClosing = true;
    clearTimeout(this.#retry);
  }

  async #record(spec: InstanceSpec): Promise<{ durable: Promise<void> }> {
    const engine = this.#manifest?.engine ?? (await chooseEngine(this.#settings, spec));
    ensureInstanceFolder(this.#folder);
    await failpoint("host.ensure.folder");
    const adminPassword = this.#manifest?.adminPassword ?? newPassword();
    this.#manifest = { spec, wish: "present", engine, adminPassword };
    const durable = writeManifest(this.#folder.manifest, this.#manifest);
    await failpoint("host.ensure.manifest");
    // The disk may take its time while the engine starts; a failure is still seen by whoever awaits it.
    durable.catch(() => undefined);
    return { durable };
  }

  /** The flat list of steps to a running engine. Never throws: what went wrong is observed, and tried again. */
  async #bringUp(): Promise<void> {
    clearTimeout(this.#retry);
    const manifest = this.#manifest;
    if (manifest === null || manifest.wish === "removed" || this.#isClosing) return;
    const runs = this.#process !== null && this.#state === "running";
    if (runs && this.#isApplied) return;
    if (!runs) this.#become("starting");
    try {
      const { context, engine } = await this.#ensureContext(manifest);
      if (this.#process === null) {
        ensureEngineFolders(this.#folder, context.account);
        await failpoint("host.ensure.folders");
        await this.#ensureData(engine, context);
        writeConfig(engine, context);
        await failpoint("host.ensure.config");
        this.#process = this.#adopt(await startEngine(engine, context, this.#folder));
        this.#inCgroup(context, (cgroups, limits) =>
          confine(cgroups, this.id, this.#process?.pid ?? 0, limits),
        );
      }
      if (!runs) await this.#ensureReady(engine, context);
      await failpoint("host.ensure.ready");
      await engine.apply?.(context);
      await failpoint("host.ensure.applied");
      // It may have ended while it was being asked.
      if (this.#process === null) throw new PublicError(engine.explain(readTail(this.#folder.log)));
      this.#isApplied = true;
      this.#inCgroup(context, (cgroups, limits) => limit(cgroups, this.id, limits));
      this.#lastError = null;
      this.#become("running");
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What an engine reads at its start only is in its files. */
  async #needsRestart(): Promise<boolean> {
    if (this.#process === null || this.#manifest === null) return false;
    const { engine, context } = await this.#ensureContext(this.#manifest);
    return !isConfigWritten(engine, context);
  }

  async #ensureData({ firstData }: Engine, { installed, account, paths }: EngineContext<InstanceSpec>) {
    if (firstData === undefined) return;
    const take = (path: string) => this.#slots.take({ installed, firstData }, path);
    await ensureFirstData(firstData, installed, paths.dataDir, account, take);
  }

  #inCgroup(
    { limits }: EngineContext<InstanceSpec>,
    task: (cgroups: CgroupBackend, limits: Limits) => void,
  ): void {
    const { cgroups } = this.#settings;
    if (cgroups !== null && limits.enforcedBy !== "engine") task(cgroups, limits);
  }

  async #ensureContext(manifest: Manifest) {
    const engine = engineFor(manifest.engine.name, manifest.spec.kind);
    if (engine === undefined) throw new PublicError(`This host cannot run ${manifest.engine.name}.`);
    const context = await contextOf(this.#settings, manifest, engine, this.#folder);
    this.#engine = engine;
    this.#context = context;
    return { engine, context };
  }

  async #ensureReady(engine: Engine, context: EngineContext<InstanceSpec>): Promise<void> {
    const end =
      this.#process === null ? "ended" : await readyOrEnd(engine, context, this.#process, this.#folder);
    if (end === "ready") return;
    if (end === "hung") await this.#stop("SIGKILL");
    throw new PublicError(
      end === "hung"
        ? "The engine did not become ready in time."
        : engine.explain(readTail(this.#folder.log)),
    );
  }

  /** Watches a process from here on, whether it was started or found. */
  #adopt(found: EngineProcess | null): EngineProcess | null {
    void found?.exited.then(() => this.#ended(found));
    return found;
  }

  #ended(ended: EngineProcess): void {
    if (this.#process !== ended) return;
    const ranMs = this.#state === "running" ? Date.now() - this.#since.getTime() : 0;
    this.#process = null;
    if (this.#isClosing || this.#state !== "running") return;
    this.#crashes += 1;
    if (ranMs >= STEADY_MS) this.#failedStarts = 0;
    this.#log.warn({ pid: ended.pid, crashes: this.#crashes }, "engine ended unexpectedly");
    this.#lastError = "The engine ended unexpectedly and is being restarted.";
    this.#become("starting");
    this.#retryLater(
      this.#failedStarts++ === 0 ? 0 : backoffMs(this.#failedStarts, FIRST_RETRY_MS, LONGEST_RETRY_MS),
    );
  }

  #fail(error: unknown): void {
    this.#failedStarts += 1;
    this.#lastError = error instanceof PublicError ? error.message : "The host could not start the engine.";
    this.#log.error({ error, reason: this.#lastError }, "engine could not be started");
    this.#become("failed");
    this.#retryLater(backoffMs(this.#failedStarts, FIRST_RETRY_MS, LONGEST_RETRY_MS));
  }

  #retryLater(delayMs: number): void {
    if (this.#isClosing) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      void this.#tasks.run(() => this.#bringUp());
    }, delayMs);
  }

  async #stop(signal?: NodeJS.Signals): Promise<void> {
    clearTimeout(this.#retry);
    const running = this.#process ?? (isLocked(this.#folder.lock) ? findEngine(this.#folder) : null);
    this.#process = null;
    if (running === null) return;
    const { stopSignal = "SIGTERM" as const, stopTimeoutMs = 20_000 } = this.#engine ?? {};
    await stopEngine(running, { signal: signal ?? stopSignal, timeoutMs: stopTimeoutMs }, this.#folder).catch(
      (error: unknown) => this.#log.error({ error: messageOf(error) }, "engine could not be stopped"),
    );
    if (this.#state === "running") this.#become("stopped");
  }

  #become(state: State): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#since = new Date();
    this.#onChange(this.observe());
  }
}
