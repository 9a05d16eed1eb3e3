// The limits of an engine's processes: when they come into force after a start, and after a host has found the engine.
import { PublicError } from "../../lib/errors.ts";
import { setOomScore } from "../../lib/oom-score.ts";
import { confine, confineStarted, dissolve, expectMove } from "../os/cgroup.ts";
import { holdsLock } from "../os/locks.ts";
import { DEFAULT_PORT_RANGE } from "../os/network-rules.ts";
import { oomScoreOf, type EngineProcess } from "./engine-process.ts";
import type { Runnable, RunnerParts } from "./runner-parts.ts";

export class Confinement {
  readonly #parts: Pick<RunnerParts, "id" | "settings" | "folder">;
  #latest: Promise<PublicError | null> = Promise.resolve(null);
  /** Whether a group of the instance is that of an engine that this host has started. */
  #isGroupKnown = false;

  constructor(parts: Pick<RunnerParts, "id" | "settings" | "folder">) {
    this.#parts = parts;
  }

  /** Limits a process that builds data. */
  builder(pid: number, { engine, context }: Runnable): void {
    const { id, settings } = this.#parts;
    confine(settings.cgroups, id, [pid], context.limits, { weight: engine.processorWeight });
  }

  /** An engine is about to be started. */
  async expected({ context }: Runnable): Promise<void> {
    const { id, settings } = this.#parts;
    // What the group of an earlier host has counted is in the readings of that host.
    if (!this.#isGroupKnown) await dissolve(settings.cgroups, id);
    this.#isGroupKnown = true;
    // A customer's command waits for its limits.
    if (context.application !== undefined) void expectMove(settings.cgroups);
  }

  /** Begins to limit an engine that has just been started. @returns `fault` of this start. */
  started(pid: number, runnable: Runnable): Promise<PublicError | null> {
    const { id, settings } = this.#parts;
    const { limits } = runnable.context;
    const confined = confineStarted(settings.cgroups, id, pid, limits, this.#optionsOf(runnable));
    this.#latest = confined.then(
      () => null,
      (cause: unknown) => new PublicError("The host could not limit the engine.", cause),
    );
    return this.#latest;
  }

  /** Limits a found engine anew: its host may have been killed before it did so, or had fewer limits. */
  found({ pid, holders = [] }: Pick<EngineProcess, "pid" | "holders">, runnable: Runnable): void {
    const { id, settings, folder } = this.#parts;
    const { engine, context } = runnable;
    // The number of an ended process may be that of another by now. Children that were started since follow their parents.
    const pids = holders.filter((each) => holdsLock(each, folder.lock));
    confine(settings.cgroups, id, pids, context.limits, this.#optionsOf(runnable));
    setOomScore(pid, oomScoreOf(engine, context));
  }

  /** A customer's command could take the ports of other instances. */
  #optionsOf({ engine, context }: Runnable) {
    const range = this.#parts.settings.portRange ?? DEFAULT_PORT_RANGE;
    const reserved = { range, own: context.spec.exposure.port };
    return {
      weight: engine.processorWeight,
      reserved: context.application === undefined ? undefined : reserved,
    };
  }

  /** Resolves when the limits of the latest start are in force, with null, or with why they are not. */
  get fault(): Promise<PublicError | null> {
    return this.#latest;
  }
}
