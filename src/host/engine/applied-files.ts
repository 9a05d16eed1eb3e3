// Brings a running engine to its spec, together with the files that need no restart.
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { DatabaseFault, DataState, Engine, EngineContext } from "../../engines/engine.ts";
import { isApplied, isWritten, writeFile } from "./context.ts";

/**
 * Applies the spec. The files are written last, so that after a kill before that a later host applies the spec again.
 * @returns the databases for which that failed.
 * @throws when the engine refuses, or ended meanwhile.
 */
export async function applyTo(
  engine: Engine,
  context: EngineContext<InstanceSpec>,
  data: DataState,
): Promise<DatabaseFault[]> {
  const faults = (await engine.apply?.(context, data)) ?? [];
  for (const [name, content] of Object.entries(engine.files(context))) {
    if (isApplied(engine, name) && !isWritten(context, name, content)) writeFile(context, name, content);
  }
  return faults;
}
