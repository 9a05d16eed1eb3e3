// Notifies the streams of an organization of new events, and limits the number of streams.
import type { Principal } from "../../../api/auth/auth.ts";
import type { Database } from "../../../store/database.ts";
import { StreamPlaces } from "../stream-places.ts";

/** The entry of a stream, with the function that notifies it. */
interface Bell {
  organizationId: string;
  ring(): void;
}

/** The streams of this process; the store notifies all of them over one channel. */
export class EventBells {
  readonly #bells = new Set<Bell>();
  readonly #places = new StreamPlaces("its events");
  #listening: Promise<unknown> | undefined;

  /**
   * Takes a place for a stream.
   * @throws ApiError 429 when the token, the user or the organization has too many.
   */
  async take(db: Database, principal: Principal) {
    const { promise, resolve } = Promise.withResolvers<void>();
    let rung = { promise, resolve };
    const { organizationId } = principal;
    const bell: Bell = { organizationId, ring: () => rung.resolve() };
    const release = this.#places.take(principal);
    this.#bells.add(bell);
    const complete = () => {
      this.#bells.delete(bell);
      release();
    };
    try {
      await this.#listen(db);
    } catch (error) {
      complete();
      throw error;
    }
    return {
      complete,
      /** Resolves at the next notification from now on. */
      next: () => {
        rung = Promise.withResolvers<void>();
        return { within: (ms: number, ended: AbortSignal) => untilRung(rung.promise, ms, ended) };
      },
    };
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
