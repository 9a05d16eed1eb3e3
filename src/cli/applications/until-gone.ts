// Waits until an application or an environment that is being deleted is gone.
import { PilviError } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { Progress } from "../progress.ts";
import type { Session } from "../session.ts";

const PAUSE_MS = 500;

/**
 * @param get reads the resource.
 * @returns the failure when it takes too long. @throws CommandError with the exit code 130 on Ctrl-C.
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
  try {
    for (;;) {
      await get(signal);
      if (io.nowMs() >= endMs)
        return new CommandError(
          `After ${timeoutSeconds} s, ${name} still exists. Pilvi goes on deleting it.`,
        );
      await io.pause(PAUSE_MS, signal);
    }
  } catch (error) {
    if (error instanceof PilviError && error.status === 404) return undefined;
    if (!signal.aborted) throw error;
    throw new CommandError("Interrupted. Pilvi goes on deleting it.", 130);
  } finally {
    progress.end();
    if (!signal.aborted) forget();
  }
}
