// Notifies the streams of an organization of new events, and limits the number of streams.
import { callerId, type Principal } from "../../../api/auth/auth.ts";
import { ApiError } from "../../../api/jsonapi/errors.ts";
import type { Database } from "../../../store/database.ts";

/** How many streams of one process a token or user and an organization may have. */
const MAX_OF_CALLER = 20;
const MAX_OF_ORGANIZATION = 100;

/** The entry of a stream, with the function that notifies it. */
interface Bell {
  organizationId: string;
  callerId: string;
  ring(): void;
}

/** The streams of this process; the store notifies all of them over one channel. */
export class EventBells {
  readonly #bells = new Set<Bell>();
  #listening: Promise<unknown> | undefined;

  /**
   * Takes a place for a stream.
   * @throws ApiError 429 when the token, the user or the organization has too many.
   */
  async take(db: Database, principal: Principal) {
    const { promise, resolve } = Promise.withResolvers<void>();
    let rung = { promise, resolve };
    const { organizationId } = principal;
    const bell: Bell = { organizationId, callerId: callerId(principal), ring: () => rung.resolve() };
    this.#assertRoom(bell);
    this.#bells.add(bell);
    try {
      await this.#listen(db);
    } catch (error) {
      this.#bells.delete(bell);
      throw error;
    }
    return {
      complete: () => void this.#bells.delete(bell),
      /** Resolves at the next notification from now on. */
      next: () => {
        rung = Promise.withResolvers<void>();
        return { within: (ms: number, ended: AbortSignal) => untilRung(rung.promise, ms, ended) };
      },
    };
  }

  #assertRoom({ organizationId, callerId: caller }: Bell): void {
    const ofOrganization = [...this.#bells].filter((bell) => bell.organizationId === organizationId);
    const ofCaller = ofOrganization.filter((bell) => bell.callerId === caller);
    if (ofCaller.length < MAX_OF_CALLER && ofOrganization.length < MAX_OF_ORGANIZATION) return;
    const [owner, most] =
      ofCaller.length < MAX_OF_CALLER ? ["organization", MAX_OF_ORGANIZATION] : ["caller", MAX_OF_CALLER];
    throw new ApiError(
      429,
      `The ${owner} follows its events ${most} times already. End one of the streams.`,
      {
        headers: { "Retry-After": "15" },
      },
    );
  }

  /**
   * Subscribes to new events at the first stream. After a lost connection every stream looks for the events that it
   * missed.
   */
  async #listen(db: Database): Promise<void> {
    const ringFor = (organizationId: string) => {
      for (const bell of this.#bells) if (bell.organizationId === organizationId) bell.ring();
    };
    const ringAll = () => {
      for (const bell of this.#bells) bell.ring();
    };
    this.#listening ??= db.listen("events", ringFor, ringAll);
    try {
      await this.#listening;
    } catch (error) {
      this.#listening = undefined;
      throw error;
    }
  }
}

async function untilRung(rung: Promise<void>, ms: number, ended: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const timer = setTimeout(end, Math.max(0, ms));
  ended.addEventListener("abort", end);
  if (ended.aborted) end();
  await Promise.race([rung, promise]);
  clearTimeout(timer);
  ended.removeEventListener("abort", end);
}
