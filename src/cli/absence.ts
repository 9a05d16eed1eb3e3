// Reads on while Pilvi is away, as during an update: the work that a command waits for goes on, or goes on afterwards.
import { isAbsence } from "../sdk/index.ts";
import { CommandError, endingOf } from "./failure.ts";
import type { Io } from "./io.ts";

const PAUSE_MS = 1000;

/** How long an absence is borne, and how it is shown. */
interface Patience {
  /** Ends the reading by an error. */
  signal?: AbortSignal;
  /** The last moment of another attempt, by the clock of `Io`; without it there is always another attempt. */
  endMs?: number;
  /** Called once in each absence; a line on stderr when left out. */
  onAbsence?: (error: Error) => void;
}

/**
 * Reads until an attempt gets an answer of Pilvi. It is for commands that have had an answer before: an address where
 * Pilvi never was is wrong, and has to be reported at once.
 * @throws what `read` throws, but an absence only when the time is over.
 */
export async function readPatiently<T>(
  io: Io,
  read: () => Promise<T>,
  { signal, endMs = Number.POSITIVE_INFINITY, onAbsence = (error) => io.err(absenceText(error)) }: Patience,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (!isAbsence(error) || io.nowMs() >= endMs) throw error;
      if (attempt === 1) onAbsence(error);
    }
    await io.pause(Math.min(PAUSE_MS, Math.max(0, endMs - io.nowMs())), signal);
  }
}

/** A line about an absence that has begun. */
export function absenceText({ message }: Error): string {
  return `Pilvi is away, and the wait goes on: ${message}\n`;
}

/**
 * The failure of a command that cannot wait any longer for work that goes on.
 * @param afterwards where the work is found, as sentences.
 * @throws the error when commands do not foresee it.
 */
export function givenUp(error: unknown, afterwards: string): CommandError {
  const ending = endingOf(error);
  if (ending === undefined) throw error;
  return new CommandError(`${ending.text}\n${afterwards}`, ending.exitCode);
}
