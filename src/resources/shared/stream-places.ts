// Limits how many streams of one sort a token or user, and the organizations that share quotas, may have at once.
import { callerId, type Principal } from "../../api/auth/auth.ts";
import { ApiError } from "../../api/jsonapi/errors.ts";

const MAX_OF_CALLER = 20;
const MAX_OF_FAMILY = 100;

interface Place {
  familyId: string;
  callerId: string;
}

/** The places for the streams of this process. */
export class StreamPlaces {
  readonly #places = new Set<Place>();
  readonly #subject: string;

  /** @param subject what the streams are about, such as `its events`. */
  constructor(subject: string) {
    this.#subject = subject;
  }

  /**
   * Takes a place; the returned function releases it.
   * @throws ApiError 429 when the token, the user or the organization has too many.
   */
  take(principal: Principal): () => void {
    const place = { familyId: principal.familyId, callerId: callerId(principal) };
    const ofFamily = [...this.#places].filter((other) => other.familyId === place.familyId);
    const ofCaller = ofFamily.filter((other) => other.callerId === place.callerId);
    if (ofCaller.length >= MAX_OF_CALLER) throw this.#refusal("caller", MAX_OF_CALLER);
    if (ofFamily.length >= MAX_OF_FAMILY) throw this.#refusal("organization", MAX_OF_FAMILY);
    this.#places.add(place);
    return () => void this.#places.delete(place);
  }

  #refusal(owner: string, most: number): ApiError {
    return new ApiError(
      429,
      `The ${owner} follows ${this.#subject} ${most} times already. End one of the streams.`,
      { headers: { "Retry-After": "15" } },
    );
  }
}
