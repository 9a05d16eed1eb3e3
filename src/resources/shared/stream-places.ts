// Limits how many streams of one sort a token or user, and an organization, may have at the same time.
import { callerId, type Principal } from "../../api/auth/auth.ts";
import { ApiError } from "../../api/jsonapi/errors.ts";

const MAX_OF_CALLER = 20;
const MAX_OF_ORGANIZATION = 100;

interface Place {
  organizationId: string;
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
    const place = { organizationId: principal.organizationId, callerId: callerId(principal) };
    const ofOrganization = [...this.#places].filter((other) => other.organizationId === place.organizationId);
    const ofCaller = ofOrganization.filter((other) => other.callerId === place.callerId);
    if (ofCaller.length >= MAX_OF_CALLER) throw this.#refusal("caller", MAX_OF_CALLER);
    if (ofOrganization.length >= MAX_OF_ORGANIZATION)
      throw this.#refusal("organization", MAX_OF_ORGANIZATION);
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
