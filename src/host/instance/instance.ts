// One instance: feeds every request to its lifecycle, and carries out the effects that the lifecycle decides on.
import { isDeepStrictEqual } from "node:util";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Observation } from "../../contracts/observation.ts";
import { messageOf, PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { DataSource } from "../backups/data-source.ts";
import { InstanceOrigin } from "../backups/instance-origin.ts";
import { Condition } from "../manifest/instance-state.ts";
import { Contents } from "../engine/contents.ts";
import { chooseEngine } from "../engine/context.ts";
import { InstanceAddress } from "../engine/instance-address.ts";
import { Callers } from "./callers.ts";
import { MAX_END_MS } from "./closing.ts";
import { ensureRunning, type EnsureRunningParts } from "./ensure-running.ts";
import type { Demand, Ticket } from "../lifecycle/lifecycle.ts";
import { Machine, type InstanceEffect } from "../lifecycle/machine.ts";
import { foundAs, isApplied } from "../lifecycle/state.ts";
import { uidOf } from "../os/accounts.ts";
import { ownerOf } from "../os/proc-files.ts";
import { ensureInstanceFolder, instanceFolder, type InstanceFolder } from "../os/layout.ts";
import { MeteredEngine } from "./metered-engine.ts";
import { ManifestFile } from "../manifest/manifest-file.ts";
import { adoptData } from "./adoption.ts";
import { removeInstance, type RemovalParts } from "./removal.ts";
import { refusalSentence } from "./refusal-sentence.ts";
import { readPersistedState } from "./persisted-state.ts";
import type { EngineRunner } from "../engine/runner.ts";
import type { Runnable, RunnerParts } from "../engine/runner-parts.ts";
import { FailureHandler } from "../engine/failure-handler.ts";
import { SleepCycle } from "../sleep/sleep-cycle.ts";
import type { InstanceDependencies } from "./dependencies.ts";
import { manifestFor } from "../manifest/spec-change.ts";

export class Instance {
  readonly id: string;
  readonly sleep: SleepCycle;
  readonly metered: MeteredEngine;
  readonly failures: FailureHandler;
  readonly source: DataSource;
  readonly lifecycle: Pick<Machine, "state" | "since">;
  readonly #deps: InstanceDependencies;
  readonly #log: InstanceDependencies["log"];
  readonly #folder: InstanceFolder;
  readonly #file: ManifestFile;
  readonly #machine: Machine;
  readonly #condition: Condition;
  readonly #runner: EngineRunner;
  readonly #contents: Contents;
  readonly #engine: EnsureRunningParts;
  readonly #removal: RemovalParts;
  readonly #origin: InstanceOrigin;
  readonly #callers = new Callers();
  /** Aborted for good when the engine is to be stopped or let go: every wait for a start ends. */
  readonly #leaving = new AbortController();

  constructor(id: string, deps: InstanceDependencies) {
    this.id = id;
    this.#deps = deps;
    const log = (this.#log = deps.log.child({ instance: id }));
    const folder = (this.#folder = instanceFolder(deps.settings.dataDir, id));
    const file = (this.#file = new ManifestFile(folder.manifest));
    const lifecycle = (this.#machine = new Machine({
      log,
      perform: (effect) => this.#perform(effect),
      onTransition: (transition) => deps.onTransition?.(id, transition),
      onSeen: () => this.#condition.changed(),
    }));
    this.lifecycle = lifecycle;
    const condition = (this.#condition = new Condition(lifecycle, () => {
      this.sleep.publish();
      deps.onChange(this.observe());
    }));
    const { settings, slots, gateway, edge, addresses, starts, backups } = deps;
    const [copies, leaving, onIdle] = [backups.copies, this.#leaving.signal, () => this.idle()];
    const shared = { id, settings, folder, file, log, lifecycle, condition, gateway, leaving, onIdle };
    const origin = (this.#origin = new InstanceOrigin({ ...shared, backups }));
    const parts: RunnerParts = { ...shared, slots, origin, onEnded: (ended) => this.failures.ended(ended) };
    const runner = (this.#runner = deps.runner(parts));
    const address = new InstanceAddress({ ...shared, runner, addresses });
    const failures = (this.failures = new FailureHandler({ ...shared, runner, address }));
    const contents = (this.#contents = new Contents({ ...shared, runner }));
    const onFailed = (error: unknown) => failures.stoppedWithoutSleep(error);
    const sleep = (this.sleep = new SleepCycle({ ...shared, edge, runner, address, copies, onFailed }));
    this.metered = new MeteredEngine({ ...shared, runner });
    const [makeWay, adopt] = [() => copies.makeWay(id), () => adoptData({ ...shared, stop: deps.stop })];
    this.#engine = { ...shared, runner, address, contents, sleep, failures, starts, origin, makeWay, adopt };
    this.#removal = { ...shared, runner, address, backups };
    this.source = new DataSource({ ...shared, runner, wake: () => this.wake() });
  }

  observe(): Observation {
    const seen = this.#condition.observe(this.id, this.#runner, this.sleep.observe());
    return { ...seen, ...this.#contents.observe(), ...this.#origin.observe(), ...this.source.observe() };
  }

  /** The running engine of this instance, when the host knows it. */
  get process(): EngineRunner["process"] {
    return this.#runner.process;
  }

  /** The engine that runs or is being ended. */
  get liveProcess(): EngineRunner["process"] {
    return this.#runner.liveProcess;
  }

  /** The uid of the instance; for data without a readable manifest, the owner of the data. Null without either. */
  get uid(): number | null {
    const { manifest } = this.#file;
    return manifest === null ? ownerOf(this.#folder.data) : uidOf(manifest);
  }

  /** The engine that takes connections, with its context. @throws PublicError when the instance does not run. */
  get running(): Runnable {
    const { runnable } = this.#runner;
    if (!this.#runs || runnable === null) throw new PublicError(`${this.id} does not run.`);
    return runnable;
  }

  /**
   * Brings the instance to the spec; resolves when it runs, sleeps, or could not be started.
   * @throws PublicError when it runs on with the former spec.
   */
  ensure(spec: InstanceSpec): Promise<Observation> {
    return this.#ask("ensure", spec);
  }

  /** Suspends it once nothing is under way, once for all callers. @throws PublicError that names the obstacle. */
  suspend(): Promise<Observation> {
    return this.#ask("suspend");
  }

  /** Starts a stopped engine for a client. Further calls join the same start. */
  wake(): void {
    this.#machine.dispatch({ type: "asked", demand: "wake" });
  }

  /** Suspends an instance that has been idle for as long as its spec says, unless something else keeps it awake. */
  idle(): void {
    this.#machine.dispatch({ type: "asked", demand: "idle" });
  }

  /** Kills the engine at once and deletes everything. Deleted data need not be saved first. */
  async remove(): Promise<void> {
    await this.#ask("remove");
  }

  /**
   * Reads the persisted state, and finds the engine if it still runs.
   * @returns false when there is nothing to take up.
   */
  load(holders: Map<string, number[]>): boolean {
    const manifest = readPersistedState(this.id, this.#file, this.#folder, this.#log);
    if (manifest === null) return false;
    if ("unusable" in manifest) {
      this.#condition.lastError = manifest.unusable;
      this.#machine.report({ type: "foundUnusable", reason: manifest.unusable });
      return false;
    }
    this.#runner.find(holders);
    const { process, endOrder } = this.#runner;
    this.#machine.report({ type: foundAs(manifest.state, process !== null, endOrder.isFinal) });
    this.#origin.loaded();
    this.sleep.loaded();
    return true;
  }

  /** Goes on from the persisted state: keeps a running engine, starts a missing one, finishes a removal. */
  async resume(): Promise<void> {
    if (this.#machine.state.name !== "removing") return void (await this.#ask("resume"));
    await this.remove().catch((error: unknown) =>
      this.#log.error({ error }, "a removal could not be finished"),
    );
  }

  /** Stops the engine cleanly and keeps it stopped until the host starts anew. */
  async close(): Promise<void> {
    await this.#ask("close");
  }

  /** Stops the engine cleanly, and keeps it stopped until an order that a later host gets. */
  async end(): Promise<void> {
    await this.#ask("end");
  }

  /** Lets the engine run on, and stops watching it. */
  release(): void {
    this.#machine.dispatch({ type: "released" });
  }

  #ask(demand: Demand, spec?: InstanceSpec): Promise<Observation> {
    const { ticket, answer } = this.#callers.enter(spec);
    this.#machine.dispatch({ type: "asked", demand, ticket });
    return answer;
  }

  #perform(effect: InstanceEffect): void {
    switch (effect.do) {
      case "record":
        return this.#work("recordEnded", () => this.#record(effect.ticket));
      case "recover":
        return this.#recover();
      case "start":
        return this.#work("startEnded", async () => {
          if (effect.delayMs > 0) await Bun.sleep(effect.delayMs);
          await ensureRunning(this.#engine, effect.askedAtMs);
        });
      case "conclude":
        return this.#work("taskEnded", () => this.#conclude(effect.ticket));
      case "suspend":
        return this.#work("taskEnded", () => this.#suspend(effect.isIdle));
      case "stop":
        return this.#work("taskEnded", () => this.#stop(effect.isFinal));
      case "remove":
        return this.#work("taskEnded", () => removeInstance(this.#removal));
      case "answer":
        return this.#callers.answer(effect.tickets, () => this.observe(), effect.error);
      case "refuse":
        return this.#callers.answer(
          effect.tickets,
          () => this.observe(),
          new PublicError(refusalSentence(this.id, this.#machine.state, effect.reason)),
        );
      case "interrupt":
        return this.sleep.interrupt();
      case "leave":
        return this.#leaving.abort();
      case "kill":
        // A removal must not wait for commands that wait for the engine, for example for a customer's lock.
        return this.#runner.kill();
    }
  }

  /** Runs a part of a task, and reports its end in any case. */
  #work(type: "recordEnded" | "startEnded" | "taskEnded", task: () => Promise<void>): void {
    const end = (error?: unknown) => this.#machine.dispatch({ type, error });
    void Promise.resolve()
      .then(task)
      .then(() => end(), end);
  }

  #recover(): void {
    const end = (isSuspendDue: boolean) => this.#machine.dispatch({ type: "recoveryEnded", isSuspendDue });
    void Promise.resolve()
      .then(() => this.sleep.recover())
      .then(end, () => end(false));
  }

  async #record(ticket: Ticket): Promise<void> {
    const spec = this.#callers.specOf(ticket);
    const former = this.#file.manifest;
    this.#origin.retry();
    if (this.#runner.endOrder.takeBack()) this.#machine.report({ type: "reordered" });
    if (isDeepStrictEqual(former?.spec, spec)) return;
    const engine = former?.engine ?? (await chooseEngine(this.#deps.settings, spec));
    ensureInstanceFolder(this.#folder);
    await failpoint("host.ensure.folder");
    // No await separates the choice of the uid from the manifest, so that no other instance gets the same uid.
    const manifest = manifestFor(spec, engine, former, this.#deps.allotUid);
    // The disk sync may overlap the start of the engine.
    this.#callers.keep(ticket, this.#file.replace(manifest));
    this.sleep.recorded(former);
    // A sleeping instance shows the engine that it will wake with; every other instance finds it out at its start.
    if (this.#file.isAsleep) await this.#runner.choose(manifest);
    await failpoint("host.ensure.manifest");
    // A new spec may work where the former failed. A repeated spec does not hasten the start of a failing engine.
    this.#machine.report({ type: "recorded" });
  }

  /** Fails an `ensure` whose instance runs without the whole spec: its caller takes the spec for fulfilled. */
  async #conclude(ticket: Ticket): Promise<void> {
    await this.#callers.kept(ticket);
    if (this.#runs && !isApplied(this.#machine.state) && !this.#contents.isPartial)
      throw new PublicError(this.#condition.lastError ?? `${this.id} is being let go.`);
  }

  async #suspend(isIdle: boolean): Promise<void> {
    try {
      await this.sleep.suspend(isIdle);
    } catch (error) {
      if (!isIdle) throw error;
      this.#log.debug({ error: messageOf(error) }, "it stays awake");
    }
  }

  async #stop(isFinal: boolean): Promise<void> {
    try {
      // A host that is killed while it ends leaves no more time to the next than it had itself.
      const how = isFinal ? { isFinal } : { withinMs: MAX_END_MS };
      if (await this.#runner.stop(how)) this.#machine.report({ type: "stopped" });
    } catch (error) {
      this.#log.error({ error }, "engine could not be stopped");
    }
  }

  get #runs(): boolean {
    return this.process !== null && this.#machine.state.name === "running";
  }
}
