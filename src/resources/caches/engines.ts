// Whether the driver has an engine for a type of cache.
import type { Driver, EngineName } from "../../drivers/driver.ts";
import { isValkeyType } from "./schema.ts";
import type { CacheType } from "./sizes.ts";

/** Engines come and go by an operator's hand, which may take effect after this time. */
const REMEMBERED_MS = 5_000;

/** The engines that will do for a type, the preferred one first. */
export function enginesFor(type: CacheType): [EngineName, ...EngineName[]] {
  return isValkeyType(type) ? ["valkey"] : ["redis", "valkey"];
}

/** Tells why no cache of a type can be made here, as a sentence, or undefined when it can. */
export function engineCheck(driver: Driver): (type: CacheType) => Promise<string | undefined> {
  let remembered: { names: Promise<Set<EngineName>>; untilMs: number } | undefined;
  const installed = async () => new Set((await driver.offer()).engines.map((engine) => engine.name));
  return async (type) => {
    if (remembered === undefined || remembered.untilMs < performance.now()) {
      remembered = { names: installed(), untilMs: performance.now() + REMEMBERED_MS };
    }
    const wanted = enginesFor(type);
    try {
      const names = await remembered.names;
      if (wanted.some((name) => names.has(name))) return undefined;
    } catch {
      // A wish can be recorded while the driver is away; the reconciler tells what it finds.
      return undefined;
    }
    return `No engine for ${type} is installed: it needs ${wanted.join(" or ")}. \`pilvi engines install\` installs it.`;
  };
}
