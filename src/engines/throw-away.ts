// Programs and engines that run on restored data, beside the instances: their end, their last words, their readiness.
import { unlessAborted } from "../lib/unless-aborted.ts";
import type { RestoreContext, RestoreProcess } from "./backup.ts";

/** How much of the end of a program's output is kept. */
const MAX_SAID_BYTES = 16_384;

const POLL_MS = 50;

/** How long an engine may take to end before it is killed. */
const STOP_TIMEOUT_MS = 60_000;

/** How a program ended. */
interface ProgramEnd {
  /** Null when a signal ended it. */
  code: number | null;
  /** The end of its error output. */
  said: string;
}

/** An engine on restored data ended before it was ready, or while it was in use. */
export class EngineEnded extends Error {
  override name = "EngineEnded";
  readonly end: ProgramEnd;

  constructor(end: ProgramEnd) {
    super(`the engine ended with ${end.code}: ${end.said}`);
    this.end = end;
  }
}

/** The parts of a restore that programs need. */
type Starter = Pick<RestoreContext, "start" | "signal">;

/** Runs a program to its end. @throws the reason of the signal, when that is aborted. */
export async function runToEnd({ start, signal }: Starter, argv: string[]): Promise<ProgramEnd> {
  return await killedOnAbort(start, argv, signal, async (_, end) => await end);
}

/** How an engine is used. */
interface ThrowAwayEngine {
  argv: string[];
  /** Whether it takes connections now. It may throw while the engine starts. */
  isReady(): Promise<boolean>;
  stopSignal: NodeJS.Signals;
}

/**
 * Does the work with an engine that runs on restored data, and stops it cleanly then.
 * @throws EngineEnded when the engine ends before; the reason of the signal, when that is aborted.
 */
export async function withEngine<T>(
  { start, signal }: Starter,
  { argv, isReady, stopSignal }: ThrowAwayEngine,
  work: () => Promise<T>,
): Promise<T> {
  return await killedOnAbort(start, argv, signal, async (process, end) => {
    const leaving = new AbortController();
    const ended = end.then((how): never => {
      leaving.abort();
      throw new EngineEnded(how);
    });
    try {
      await Promise.race([untilReady(isReady, AbortSignal.any([signal, leaving.signal])), ended]);
      signal.throwIfAborted();
      const result = await Promise.race([work(), ended]);
      await stop(process, stopSignal);
      return result;
    } finally {
      // The engine ends in any case, and nobody waits for that any more.
      ended.catch(() => undefined);
    }
  });
}

/** Starts a program, and kills it when the work is done or the signal is aborted, unless it has ended by then. */
async function killedOnAbort<T>(
  start: RestoreContext["start"],
  argv: string[],
  signal: AbortSignal,
  work: (process: RestoreProcess, end: Promise<ProgramEnd>) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const process = start(argv);
  const end = endOf(process);
  try {
    return await unlessAborted(work(process, end), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    process.kill("SIGKILL");
    await end;
  }
}

async function untilReady(isReady: () => Promise<boolean>, leaving: AbortSignal): Promise<void> {
  while (!leaving.aborted) {
    if (await isReady().catch(() => false)) return;
    await Bun.sleep(POLL_MS);
  }
}

async function stop(process: RestoreProcess, signal: NodeJS.Signals): Promise<void> {
  const timer = setTimeout(() => process.kill("SIGKILL"), STOP_TIMEOUT_MS);
  process.kill(signal);
  await process.exited;
  clearTimeout(timer);
}

async function endOf({ stderr, exited }: RestoreProcess): Promise<ProgramEnd> {
  const [said, code] = await Promise.all([tailOf(stderr), exited]);
  return { code, said };
}

async function tailOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  let tail = Buffer.alloc(0);
  for await (const chunk of stream) tail = Buffer.concat([tail, chunk]).subarray(-MAX_SAID_BYTES);
  return tail.toString();
}
