// Handles an engine that ended, could not be started, or could not be stopped: reports the failure and tries again.
import { LockTimeout } from "../../engines/engine-errors.ts";
import { codeOf, PublicError, publicMessageOf } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";
import { isOutOfFiles, TOO_MANY_FILES } from "../../lib/open-files.ts";
import { DISK_IS_FULL } from "../journal/instance-journal.ts";
import type { EngineProcess } from "./engine-process.ts";
import type { InstanceAddress } from "./instance-address.ts";
import { OutOfMemoryWatch, type OutOfMemoryParts } from "./out-of-memory.ts";
import type { InstanceLifecycle } from "../lifecycle/machine.ts";
import { isSleeping } from "../lifecycle/state.ts";

/** The engine cannot save its data, so it was not stopped for a change, and serves on as before. */
export class UnsavedDataError extends PublicError {
  override name = "UnsavedDataError";

  constructor() {
    super("The data could not be saved, so the change is not in force yet.");
  }
}

/**
 * The public reason of a failure.
 * @param otherwise the public text for an error whose message only the log may show.
 */
export function reasonOf(error: unknown, otherwise: string): string {
  if (codeOf(error) === "ENOSPC") return publicMessageOf(error, DISK_IS_FULL);
  return publicMessageOf(error, isOutOfFiles(error) ? TOO_MANY_FILES : otherwise);
}

/** What the failure handler reports to and recovers with. */
interface FailureHandlerParts extends OutOfMemoryParts {
  log: Log;
  lifecycle: InstanceLifecycle;
  address: Pick<InstanceAddress, "isMissing">;
}

export class FailureHandler {
  readonly #parts: FailureHandlerParts;

  readonly #overuse: OutOfMemoryWatch;

  constructor(parts: FailureHandlerParts) {
    this.#parts = parts;
    this.#overuse = new OutOfMemoryWatch(parts);
  }

  /** The engine runs as desired. */
  over(): void {
    this.#parts.condition.lastError = null;
    this.checkMemory();
  }

  /**
   * Reports processes that the kernel killed for lack of memory. An engine such as Postgres survives such a kill.
   * @returns whether there were any.
   */
  checkMemory(): boolean {
    try {
      return this.#overuse.look();
    } catch (error) {
      // The next look sees these kills as well.
      this.#parts.log.warn({ error }, "the kills for lack of memory could not be read");
      return false;
    }
  }

  /** An engine has ended although the host did not stop it. */
  ended({ pid }: EngineProcess): void {
    const { log, condition, lifecycle } = this.#parts;
    // A start that is under way notices the exit by itself.
    if (!lifecycle.leads("exited")) return;
    const reason = this.checkMemory() ? condition.overuse : null;
    condition.crashes += 1;
    condition.lastError = reason ?? "The engine ended unexpectedly and is being restarted.";
    log.warn({ pid, reason, crashes: condition.crashes }, "engine ended unexpectedly");
    lifecycle.report({ type: "exited" });
  }

  /** An engine ended for a suspension that failed. It starts again. */
  stoppedWithoutSleep(error: unknown): void {
    const { log, condition, lifecycle } = this.#parts;
    if (!lifecycle.leads("engineLost")) return;
    condition.lastError = reasonOf(error, "The engine ended and is being restarted.");
    log.error({ error }, "an engine was ended for a sleep that did not come about");
    lifecycle.report({ type: "engineLost" });
  }

  /** An engine could not be started, or could not be stopped for a restart. */
  failed(error: unknown): void {
    const { log, condition, lifecycle, address } = this.#parts;
    if (lifecycle.isLeaving) return;
    const reason = reasonOf(error, "The host could not start the engine.");
    log.error({ error, reason }, "engine could not be started");
    condition.lastError = reason;
    const isKept = error instanceof UnsavedDataError || error instanceof LockTimeout;
    const isDisplaced = isSleeping(lifecycle.state) && address.isMissing;
    const wasRunning = lifecycle.state.name === "running";
    lifecycle.report({ type: isKept ? "kept" : isDisplaced ? "displaced" : "startFailed" });
    if (isKept && wasRunning) condition.changed();
  }
}
