// Waits until an application or an environment that is being deleted is gone.
import { isAbsence, PilviError } from "../../sdk/index.ts";
import { givenUp, readPatiently } from "../absence.ts";
import { CommandError } from "../failure.ts";
import { Progress } from "../progress.ts";
import type { Session } from "../session.ts";

const PAUSE_MS = 500;

/**
 * @param get reads the resource.
 * @returns the failure when the wait ends early, with the exit code 130 on Ctrl-C.
 */
export async function untilGone(
  { io }: Session,
  name: string,
  timeoutSeconds: number,
  get: (signal: AbortSignal) => Promise<unknown>,
): Promise<CommandError | undefined> {
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const forget = io.onInterrupt(() => interrupt.abort());
  const progress = new Progress(io, `${name} to be deleted`, { status: "deleting", lastError: null });
  const endMs = io.nowMs() + timeoutSeconds * 1000;
  const patience = { signal, endMs, onAbsence: (error: Error) => progress.away(error) };
  const afterwards = `Pilvi goes on deleting ${name}.`;
  try {
    for (;;) {
      await readPatiently(io, () => get(signal), patience);
      if (io.nowMs() >= endMs)
        return new CommandError(
          `After ${timeoutSeconds} s, ${name} still exists. Pilvi goes on deleting it.`,
        );
      await io.pause(PAUSE_MS, signal);
    }
  } catch (error) {
    if (error instanceof PilviError && error.status === 404) return undefined;
    if (signal.aborted) return new CommandError(`Interrupted. ${afterwards}`, 130);
    if (!isAbsence(error)) return givenUp(error, afterwards);
    return new CommandError(
      `After ${timeoutSeconds} s, Pilvi does not answer: ${error.message}\n${afterwards}`,
    );
  } finally {
    progress.end();
    if (!signal.aborted) forget();
  }
}
