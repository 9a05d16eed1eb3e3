// The answers to requests whose source is refused, or has no plan.
import { ApiError, invalid } from "../../../api/jsonapi/errors.ts";
import { PublicError, Refusal } from "../../../lib/errors.ts";
import { SourceTooLarge } from "../../../sources/faults.ts";

/** The field of faults that are in the source itself. */
const FIELD = "source";

/**
 * Runs a task about a source.
 * @throws ApiError 413 or 422 with the sentence of a source that is refused, 503 where the machine cannot take any.
 */
export async function withSourceFaults<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof ApiError || !(error instanceof PublicError)) throw error;
    if (error instanceof Refusal) throw new ApiError(503, error.message, { cause: error });
    if (error instanceof SourceTooLarge) throw new ApiError(413, error.message, { cause: error });
    throw invalid({ [FIELD]: [error.message] });
  }
}
