// Measures how long an engine that listens by itself has been idle, by polling its usage.
import type { Manifest } from "../manifest/manifest.ts";
import { canSleep } from "./client-proxy.ts";
import type { Runnable } from "../engine/runner-parts.ts";

export class IdleProbe {
  #usedAtMs = performance.now();
  #connections: number | null = null;

  /** The idle time in seconds, counted from the first poll at most. @throws when the engine does not answer. */
  async seconds({ engine, context }: Runnable): Promise<number> {
    const usage = await engine.usage?.(context);
    const nowMs = performance.now();
    if (usage === undefined) return 0;
    // Some connections are the host's own; other clients may have come and gone between two polls.
    const { connections, ownConnections } = usage;
    const hasCome = this.#connections === null || connections !== this.#connections + ownConnections;
    this.#connections = connections;
    if (hasCome) this.#usedAtMs = nowMs;
    else if (usage.idleSeconds !== null)
      this.#usedAtMs = Math.max(this.#usedAtMs, nowMs - usage.idleSeconds * 1_000);
    return (nowMs - this.#usedAtMs) / 1_000;
  }
}

/**
 * The idle seconds after which the host suspends an instance; null when the gateway measures idleness, or when the
 * instance never sleeps.
 */
export function idleSecondsBeforeSleep(manifest: Manifest | null): number | null {
  if (manifest === null || manifest.servedThrough === "gateway") return null;
  const { spec } = manifest;
  return canSleep(spec) && "sleepAfterSeconds" in spec ? spec.sleepAfterSeconds : null;
}
