// Whether an engine can save its data.
import { PersistenceError } from "../../engines/engine-errors.ts";
import type { Runnable } from "./runner-parts.ts";

/** Whether a stop would lose the engine's data. An engine that does not answer counts as able to save. */
export async function cannotSave({ engine, context }: Runnable): Promise<boolean> {
  try {
    await engine.blockingActivity?.(context);
    return false;
  } catch (error) {
    return error instanceof PersistenceError;
  }
}
