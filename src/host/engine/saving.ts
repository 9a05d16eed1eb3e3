// Whether an engine can save what it holds.
import { PersistenceError } from "../../engines/engine.ts";
import type { Runnable } from "./runner.ts";

/** Whether it would end all the same, and lose what it holds. One that does not answer has nothing to say of that. */
export async function cannotSave({ engine, context }: Runnable): Promise<boolean> {
  try {
    await engine.blockingActivity?.(context);
    return false;
  } catch (error) {
    return error instanceof PersistenceError;
  }
}
