// Why a source was not taken: the customer's own fault, which the message explains.
import { PublicError } from "../lib/errors.ts";

/** A source that is refused. */
export class SourceRefusal extends PublicError {
  override name = "SourceRefusal";
}

/** A source that is beyond a bound of its size. */
export class SourceTooLarge extends SourceRefusal {
  override name = "SourceTooLarge";
}

const MAX_SHOWN = 80;

/** A name from an archive or a repository within a sentence: one line, no control characters, not long. */
export function shown(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?");
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line;
}
