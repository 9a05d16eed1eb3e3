// A process of Pilvi that `pilvi up` runs: started, waited for, started again when it dies, and ended.
import { chmodSync, closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { backoffMs } from "../../lib/backoff.ts";
import { messageOf, Refusal } from "../../lib/errors.ts";
import { trimLog } from "../../lib/trim-log.ts";
import { sockets } from "../../lib/socket-calls.ts";
import type { AddressKeeper } from "./address-keeper.ts";
import { KEEPER_VARIABLE, type ChildMessage, type ParentMessage } from "./parent.ts";
import type { Program } from "./program.ts";

/** The first restart comes at once; a process that keeps ending is started less and less often. */
const FIRST_RESTART_MS = 50;
const LONGEST_RESTART_MS = 2_000;
/** A process that ran this long did not die of its start. */
const STEADY_MS = 500;
/** A process that was asked to end is killed after this time. */
export const STOP_TIMEOUT_MS = 90_000;

/** The first descriptor after the three standard ones. */
const INHERITED = 3;

/** The settings of a child process. */
interface ChildOptions {
  name: "control" | "gateway" | "host" | "keeper";
  program: Program;
  env: Record<string, string | undefined>;
  /** The folder of its log. */
  logDir: string;
  /** Keeps the sockets of the process's addresses for the next process in its place. */
  keeper?: AddressKeeper;
  /** Called with a sentence for people when the process died and is started again. */
  notice(text: string): void;
}

export class Child {
  readonly #options: ChildOptions;
  readonly #logFile: string;
  #process: Bun.Subprocess | null = null;
  #isStopping = false;
  #failures = 0;

  constructor(options: ChildOptions) {
    this.#options = options;
    this.#logFile = join(options.logDir, `${options.name}.log`);
  }

  /**
   * Resolves when the process serves.
   * @throws Refusal with the process's own sentence when it cannot start.
   */
  async start(): Promise<void> {
    const ready = Promise.withResolvers<void>();
    const child = this.#spawn((message) => {
      if (message.type === "ready") ready.resolve();
      else if (message.type === "kept") this.#options.keeper?.take();
      else ready.reject(new Refusal(message.message));
    });
    void child.exited.then(() =>
      ready.reject(
        new Refusal(`The ${this.#options.name} process ended while starting; ${this.#logFile} says why.`),
      ),
    );
    await ready.promise;
    const readyAt = Date.now();
    this.#options.keeper?.hostRuns();
    void child.exited.then(() => this.#died(child, readyAt));
  }

  /** Starts a process that others need not wait for; it is started again until it serves. */
  begin(): void {
    void this.#startOrRetry();
  }

  /** Asks the process to end, cleanly and with all that it runs; resolves when it has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#process;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.send({ type: "stop" } satisfies ParentMessage);
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    await child.exited;
    clearTimeout(timer);
  }

  /** Keeps the log from filling the disk. */
  trimLog(): void {
    trimLog(this.#logFile);
  }

  #spawn(onMessage: (message: ChildMessage) => void): Bun.Subprocess {
    const { program, name, env, keeper } = this.#options;
    const logFd = openSync(this.#logFile, "a", 0o600);
    chmodSync(this.#logFile, 0o600);
    const keeperFd = keeper?.handOver();
    try {
      this.#process = Bun.spawn([program.bun, program[name], name], {
        cwd: "/",
        env: { ...env, ...(keeperFd !== undefined && { [KEEPER_VARIABLE]: String(INHERITED) }) },
        // A terminal's Ctrl-C is for `pilvi up` alone, which ends its children in their order.
        detached: true,
        stdio: ["ignore", logFd, logFd, ...(keeperFd === undefined ? [] : [keeperFd])],
        ipc: (message: ChildMessage) => onMessage(message),
        serialization: "json",
      });
      return this.#process;
    } finally {
      closeSync(logFd);
      if (keeperFd !== undefined) sockets.close(keeperFd);
    }
  }

  async #died(child: Bun.Subprocess, startedAt: number): Promise<void> {
    if (this.#isStopping) return;
    this.#options.keeper?.hostEnded();
    if (Date.now() - startedAt >= STEADY_MS) this.#failures = 0;
    this.#options.notice(`The ${this.#options.name} process ended (${endOf(child)}) and is started again.`);
    if (this.#failures > 0) await Bun.sleep(backoffMs(this.#failures, FIRST_RESTART_MS, LONGEST_RESTART_MS));
    this.#failures += 1;
    if (this.#isStopping) return;
    await this.#startOrRetry();
  }

  async #startOrRetry(): Promise<void> {
    await this.start().catch(async (error: unknown) => {
      if (this.#isStopping) return;
      this.#options.notice(messageOf(error));
      const failed = this.#process;
      await failed?.exited;
      if (failed !== null) void this.#died(failed, Date.now());
    });
  }
}

function endOf(child: Bun.Subprocess): string {
  return child.signalCode === null ? `exit code ${child.exitCode}` : String(child.signalCode);
}
