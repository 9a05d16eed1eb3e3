// Whether the driver has an engine for a type of cache.
import type { EngineName } from "../../drivers/driver.ts";
import type { HostDirectory } from "../kind.ts";
import { noEngineFault } from "../shared/offers.ts";
import { isValkeyType } from "./schema.ts";
import type { CacheType } from "./sizes.ts";

/** The engines that will do for a type, the preferred one first. */
export function enginesFor(type: CacheType): [EngineName, ...EngineName[]] {
  return isValkeyType(type) ? ["valkey", "redis"] : ["redis", "valkey"];
}

/** Tells why no cache of a type can be made here, as a sentence, or undefined when it can. */
export function engineCheck(hosts: HostDirectory): (type: CacheType) => Promise<string | undefined> {
  return async (type) => {
    const wanted = enginesFor(type);
    try {
      const { engines } = await hosts.forNew().offer();
      if (engines.some(({ name }) => wanted.includes(name))) return undefined;
    } catch {
      // A wish can be recorded while the driver is away; the reconciler tells what it finds.
      return undefined;
    }
    return noEngineFault(type, wanted);
  };
}
