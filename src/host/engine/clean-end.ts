// Ends an engine with all its data saved, never by force.
import { statSync } from "node:fs";
import type { Engine } from "../../engines/engine.ts";
import type { InstanceFolder } from "../os/layout.ts";
import { endEngine, type EngineProcess } from "./engine-process.ts";
import { lineAppears } from "./log-follower.ts";

/**
 * Asks an engine to end, and waits for that until the engine says that it cannot save, or until the wait is given up.
 * @param leaving aborted when the wait is given up.
 * @returns false when the engine goes on.
 */
export async function endCleanly(
  engine: Engine,
  running: EngineProcess,
  folder: InstanceFolder,
  leaving: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const stays = engine.shutdownRefusedPattern;
  const [given, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const giveUp = () => given.resolve();
  const size = stays === undefined ? 0 : (statSync(folder.log, { throwIfNoEntry: false })?.size ?? 0);
  leaving.addEventListener("abort", giveUp);
  if (stays !== undefined) {
    // A log that somebody has deleted says nothing.
    const isRefused = lineAppears(folder.log, stays, over.signal, size).catch(() => false);
    void isRefused.then((found) => found && refused.resolve());
  }
  const isGivenUp = Promise.race([refused.promise, given.promise]);
  return await endEngine(running, engine.stopSignal, isGivenUp, folder).finally(() => {
    over.abort();
    leaving.removeEventListener("abort", giveUp);
  });
}
