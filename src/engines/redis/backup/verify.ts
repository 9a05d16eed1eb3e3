// Verifies a restored copy of a Redis or Valkey by loading all of its keys.
import { RestoreFault, type RestoreContext, type Verification } from "../../backup.ts";
import { loadKeys } from "./load.ts";

/** See `EngineBackup.verify`. */
export async function verify(context: RestoreContext, timeoutMs: number): Promise<Verification> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.signal, timeout]);
  try {
    return { checked: await loadKeys({ ...context, signal }), isComplete: true, faults: [] };
  } catch (error) {
    context.signal.throwIfAborted();
    if (timeout.aborted) return { checked: 0, isComplete: false, faults: [] };
    if (error instanceof RestoreFault) return { checked: 0, isComplete: true, faults: [error.message] };
    throw error;
  }
}
