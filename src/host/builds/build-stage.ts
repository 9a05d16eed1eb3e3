// What the steps of a build run on. Its programs may have to be fetched first, which can take minutes.
import type { Runtime } from "../../contracts/application.ts";
import { readyRuntime, type ReadyRuntime, type RuntimeSources } from "../../engines/runtimes/runtimes.ts";
import type { Sandbox } from "../../engines/sandbox/sandbox.ts";
import { PublicError } from "../../lib/errors.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { BuildFailure } from "./build-failures.ts";

/** What the steps of a build run on. */
export interface Stage {
  sandbox: Sandbox;
  runtime: ReadyRuntime;
}

/** Where the stages of the builds of a host come from. */
interface StageParts {
  sources: () => RuntimeSources;
  sandbox: () => Promise<Sandbox>;
}

/** The stages of the builds of a host. A build that is stopped waits for no fetch, which goes on for other builds. */
export class BuildStages {
  readonly #parts: StageParts;
  /** The runtimes that are being brought: however many builds are begun and stopped, each is waited for once. */
  readonly #coming = new Map<string, Promise<ReadyRuntime>>();

  constructor(parts: StageParts) {
    this.#parts = parts;
  }

  /** @throws the reason of the signal when that is aborted first. */
  async sandbox(signal: AbortSignal): Promise<Sandbox> {
    return await unlessAborted(this.#parts.sandbox(), signal);
  }

  /** @throws BuildFailure when it cannot be had, or the reason of the signal when that is aborted first. */
  async runtime(runtime: Runtime, sandbox: Sandbox, signal: AbortSignal): Promise<ReadyRuntime> {
    try {
      return await unlessAborted(this.#bring(runtime, sandbox), signal);
    } catch (error) {
      if (error instanceof PublicError) throw new BuildFailure("runtime", error.message);
      throw error;
    }
  }

  #bring(runtime: Runtime, sandbox: Sandbox): Promise<ReadyRuntime> {
    const key = JSON.stringify([runtime, sandbox.level]);
    const coming = this.#coming.get(key);
    if (coming !== undefined) return coming;
    const begun = readyRuntime(runtime, "build", this.#parts.sources(), sandbox).finally(() =>
      this.#coming.delete(key),
    );
    this.#coming.set(key, begun);
    return begun;
  }
}
