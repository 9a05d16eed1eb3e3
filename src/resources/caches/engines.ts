// Finds out whether the driver has an engine for a type of cache.
import type { EngineName } from "../../contracts/engine-names.ts";
import type { HostDirectory } from "../kind.ts";
import { noEngineFault } from "../shared/offers.ts";
import { isValkeyType } from "./schema.ts";
import type { CacheType } from "./sizes.ts";

/** The engines that can serve a type, the preferred engine first. */
export function enginesFor(type: CacheType): [EngineName, ...EngineName[]] {
  return isValkeyType(type) ? ["valkey", "redis"] : ["redis", "valkey"];
}

/** Why this Pilvi cannot create caches of a type, as a sentence; undefined when it can. */
export function engineCheck(hosts: HostDirectory): (type: CacheType) => Promise<string | undefined> {
  return async (type) => {
    const wanted = enginesFor(type);
    try {
      const { engines } = await hosts.forNew().offer();
      if (engines.some(({ name }) => wanted.includes(name))) return undefined;
    } catch {
      // A request is recorded while the driver is away as well; the reconciler finds out whether the engine is there.
      return undefined;
    }
    return noEngineFault(type, wanted);
  };
}
