// Caches the driver's offer for a short time, so that not every request asks the driver.
import { ApiError } from "../../api/jsonapi/errors.ts";
import type { EngineName } from "../../contracts/engine-names.ts";
import type { Offer } from "../../contracts/host-answers.ts";
import type { Driver } from "../../drivers/driver.ts";

/** An operator installs and removes engines; a change may take effect after this time. */
const REMEMBERED_MS = 5_000;

/**
 * Makes a function that resolves with the driver's offer. While the driver is away, the last known offer still holds.
 * @returns a function that throws an ApiError 503 while no offer was ever seen.
 */
export function rememberedOffer(driver: () => Driver): () => Promise<Offer> {
  let last: Offer | undefined;
  let asked: { offer: Promise<Offer>; untilMs: number } | undefined;
  return async () => {
    if (asked === undefined || asked.untilMs < performance.now()) {
      asked = { offer: driver().offer(), untilMs: performance.now() + REMEMBERED_MS };
    }
    try {
      last = await asked.offer;
    } catch (cause) {
      asked = undefined;
      if (last === undefined) throw hostAway(cause);
    }
    return last;
  };
}

/** The answer to a request that needs the driver while it is away. */
export function hostAway(cause: unknown): ApiError {
  return new ApiError(
    503,
    "The host that runs the engines cannot be reached at the moment. Try again soon.",
    {
      headers: { "Retry-After": "2" },
      cause,
    },
  );
}

/** Why this Pilvi cannot create resources of a type, as a sentence. */
export function noEngineFault(type: string, wanted: readonly EngineName[]): string {
  return `No engine for ${type} is installed: it needs ${wanted.join(" or ")}. \`pilvi engines install\` installs it.`;
}
