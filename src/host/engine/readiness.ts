// Waits until an engine takes connections, for as long as a start can reasonably last.
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Engine, EngineContext } from "../../engines/engine.ts";
import type { InstanceFolder } from "../os/layout.ts";
import { noteServed } from "../os/served-process.ts";
import type { EngineProcess } from "./engine-process.ts";
import { lineAppears } from "./log-follower.ts";

/** How often an engine that an earlier host started is asked whether it is ready. */
const ASK_INTERVAL_MS = 100;

/** The first pause between two questions to an engine without a ready line; later pauses grow. */
const FIRST_PAUSE_MS = 2;

/** Loading a large cache or recovering a database takes minutes; an engine that hangs must still be noticed. */
const START_TIMEOUT_MS = 10 * 60_000;

/** How the wait ended. */
type Readiness = "ready" | "ended" | "hung" | "given-up";

/**
 * @param start the process, and the offset in the log at which its output begins.
 * @param giveUp ends the wait when the engine is no longer wanted.
 */
export async function untilReady(
  engine: Engine,
  context: EngineContext<InstanceSpec>,
  folder: InstanceFolder,
  { pid, exited, wasFound, hasServed, logStartsAt }: Omit<EngineProcess, "launcher">,
  giveUp: AbortSignal,
): Promise<Readiness> {
  let hasEnded = false;
  const over = new AbortController();
  const end = () => over.abort();
  void exited.then(() => (hasEnded = true)).then(end);
  // Engines wake again and again. A wait must leave no listener or timer behind on objects that live as long as the
  // host.
  const timer = setTimeout(end, engine.startTimeoutMs?.(context.spec) ?? START_TIMEOUT_MS);
  giveUp.addEventListener("abort", end);
  if (giveUp.aborted) end();
  const { readyLine } = engine;
  const line = readyLine === null ? [] : [lineAppears(folder.log, readyLine, over.signal, logStartsAt)];
  // In the log of an engine that has run for a while, the ready line may lie too far back.
  const isAsked = wasFound || readyLine === null;
  const stillServes = hasServed ? engine.stillServes : undefined;
  const isServing = async () => await (stillServes ?? engine.isReady)(context);
  const asked = () => answers(isServing, readyLine === null, over.signal);
  const isReady = await Promise.race(isAsked ? [...line, asked()] : line);
  over.abort();
  clearTimeout(timer);
  giveUp.removeEventListener("abort", end);
  if (hasEnded) return "ended";
  if (isReady) {
    if (engine.stillServes !== undefined) noteServed(folder, pid);
    return "ready";
  }
  return giveUp.aborted ? "given-up" : "hung";
}

/**
 * Resolves with true when the engine answers, and with false when the signal is aborted first.
 * @param isOften whether nothing else says that it is ready.
 */
async function answers(
  isServing: () => Promise<boolean>,
  isOften: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  let pauseMs = isOften ? FIRST_PAUSE_MS : ASK_INTERVAL_MS;
  while (!signal.aborted) {
    if (await isServing()) return true;
    await Bun.sleep(pauseMs);
    pauseMs = Math.min(pauseMs * 1.05, ASK_INTERVAL_MS);
  }
  return false;
}
