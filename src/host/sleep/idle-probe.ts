// For how long nobody has used an engine that listens by itself, found out by asking it from time to time.
import type { Manifest } from "../manifest/manifest.ts";
import type { Runnable } from "../engine/runner.ts";

export class IdleProbe {
  #usedAtMs = performance.now();
  #connections: number | null = null;

  /** In seconds, since it was asked first at most. @throws when the engine does not answer. */
  async seconds({ engine, context }: Runnable): Promise<number> {
    const usage = await engine.usage?.(context);
    const nowMs = performance.now();
    if (usage === undefined) return 0;
    // Some connections are those of this question; others may have come and gone.
    const { connections, ownConnections } = usage;
    const hasCome = this.#connections === null || connections !== this.#connections + ownConnections;
    this.#connections = connections;
    if (hasCome) this.#usedAtMs = nowMs;
    else if (usage.idleSeconds !== null)
      this.#usedAtMs = Math.max(this.#usedAtMs, nowMs - usage.idleSeconds * 1_000);
    return (nowMs - this.#usedAtMs) / 1_000;
  }
}

/** After how many seconds without use an engine that listens by itself is to sleep; null where that is told by others, or never. */
export function idleSecondsBeforeSleep(manifest: Manifest | null): number | null {
  if (manifest === null || manifest.servedThrough === "gateway") return null;
  const { spec } = manifest;
  return spec.exposure.through === "gateway" && "sleepAfterSeconds" in spec ? spec.sleepAfterSeconds : null;
}
