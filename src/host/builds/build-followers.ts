// Who waits for builds to go on. All that changes a build and its log is in this process, so nobody looks again and again.
import type { BuildFile } from "../../contracts/builds.ts";

/** A build that may be followed. */
export interface FollowedBuild extends BuildFile {
  /** Called whenever its log has more, and when it has ended. */
  onProgress: () => void;
}

export class BuildFollowers {
  /** What ends each wait, by the build that is waited for. */
  readonly #waits = new Map<string, Set<() => void>>();

  /** Resolves when the build goes on, after that time, or when the signal is aborted. */
  async wait(id: string, ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waits = this.#waits.get(id) ?? new Set();
    this.#waits.set(id, waits.add(resolve));
    const timer = setTimeout(resolve, ms);
    const end = () => resolve();
    signal.addEventListener("abort", end);
    await promise;
    signal.removeEventListener("abort", end);
    clearTimeout(timer);
    waits.delete(resolve);
    if (waits.size === 0) this.#waits.delete(id);
  }

  /** Ends all waits for a build, whose log or state has changed. */
  wake(id: string): void {
    for (const end of this.#waits.get(id) ?? []) end();
  }
}
