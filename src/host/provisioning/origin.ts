// First data that comes from an origin: a backup, an instant of a log, or another instance.
import { primaryOf, type InstanceSpec, type Origin } from "../../contracts/instance-spec.ts";
import type { Engine, EngineContext } from "../../engines/engine.ts";

/** Where first data comes from; that of a replica is the latest of its primary's archive. */
export type DataOrigin = Origin | { primary: string };

/** Builds the first data of one instance from its origin. */
export interface OriginSource {
  /**
   * Makes a folder `data` in the empty folder, as the instance's user, so that the engine can start with it.
   * @throws RestoreFault when the origin cannot be restored, PublicError when it may work another time.
   */
  build(
    origin: DataOrigin,
    engine: Engine,
    context: EngineContext<InstanceSpec>,
    folder: string,
  ): Promise<void>;
}

/** The origin that the spec of an instance names; null for an instance that begins empty. */
export function originOf(spec: InstanceSpec): DataOrigin | null {
  const primary = primaryOf(spec);
  if (primary !== null) return { primary };
  return "origin" in spec ? (spec.origin ?? null) : null;
}
