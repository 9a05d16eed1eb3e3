// What the driver offers, remembered for a while, so that not every request has to ask it.
import { ApiError } from "../../api/jsonapi/errors.ts";
import type { Driver, EngineName, Offer } from "../../drivers/driver.ts";

/** Engines come and go by an operator's hand, which may take effect after this time. */
const REMEMBERED_MS = 5_000;

/**
 * Gives a function that tells the driver's offer. While the driver is away, the last one known is as good as any.
 * @returns a function that throws an ApiError 503 when no offer was ever seen.
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

/** The answer to a request that the driver would be needed for. */
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

/** Why nothing of a type can be made here, as a sentence. */
export function noEngineFault(type: string, wanted: readonly EngineName[]): string {
  return `No engine for ${type} is installed: it needs ${wanted.join(" or ")}. \`pilvi engines install\` installs it.`;
}
