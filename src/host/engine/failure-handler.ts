// What becomes of an instance whose engine ended, could not be started, or could not be ended: it is told, and tried again.
import { LockTimeout } from "../../engines/engine.ts";
import { codeOf, PublicError, publicMessageOf } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";
import { DISK_IS_FULL } from "../journal/instance-journal.ts";
import type { EngineProcess } from "./engine-process.ts";
import type { InstanceAddress } from "./instance-address.ts";
import { OutOfMemoryWatch, type OutOfMemoryParts } from "./out-of-memory.ts";
import type { InstanceLifecycle } from "../lifecycle/machine.ts";
import { isSleeping } from "../lifecycle/state.ts";

/** The engine cannot save what it holds, so it was not ended for a change, and serves on as before. */
export class UnsavedDataError extends PublicError {
  override name = "UnsavedDataError";

  constructor() {
    super("The data could not be saved, so the change is not in force yet.");
  }
}

/** What went wrong, for anyone to read. @param otherwise what is said of what only the log may tell. */
export function reasonOf(error: unknown, otherwise: string): string {
  return publicMessageOf(error, codeOf(error) === "ENOSPC" ? DISK_IS_FULL : otherwise);
}

/** Where failures are reported, and what they are recovered with. */
export interface FailureHandlerParts extends OutOfMemoryParts {
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

  /** The engine runs as it is to. */
  over(): void {
    this.#parts.condition.lastError = null;
    this.checkMemory();
  }

  /** Tells of what the kernel ended for want of memory, which an engine such as Postgres survives. */
  checkMemory(): void {
    this.#overuse.look();
  }

  /** An engine has ended that nobody was ending. */
  ended({ pid }: EngineProcess): void {
    const { log, condition, lifecycle } = this.#parts;
    // A start that is under way finds out by itself.
    if (!lifecycle.leads("exited")) return;
    const reason = this.#overuse.look() ? condition.overuse : null;
    condition.crashes += 1;
    condition.lastError = reason ?? "The engine ended unexpectedly and is being restarted.";
    log.warn({ pid, reason, crashes: condition.crashes }, "engine ended unexpectedly");
    lifecycle.report({ type: "exited" });
  }

  /** An engine was ended for a sleep that did not come about: it is started again. */
  stoppedWithoutSleep(error: unknown): void {
    const { log, condition, lifecycle } = this.#parts;
    if (!lifecycle.leads("engineLost")) return;
    condition.lastError = reasonOf(error, "The engine ended and is being restarted.");
    log.error({ error }, "an engine was ended for a sleep that did not come about");
    lifecycle.report({ type: "engineLost" });
  }

  /** An engine could not be started, or not be ended to be started anew. */
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
