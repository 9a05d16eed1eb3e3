// The two ways in which a source has no plan: a malformed file, and something that cannot be had.
import { PublicError } from "../lib/errors.ts";

const MAX_QUOTED = 60;

/** A file of the source cannot be read. The message names the file and, where known, the place in it. */
export class SourceFault extends PublicError {
  override name = "SourceFault";
  readonly file: string;

  /** @param fault what is wrong, as the end of a sentence that begins with the file. */
  constructor(file: string, fault: string, cause?: unknown) {
    super(`${quoted(file)} ${fault}`, cause);
    this.file = file;
  }
}

/** The source asks for something that cannot be had. The message says what can. */
export class PlanRefusal extends PublicError {
  override name = "PlanRefusal";
}

/** A text from a repository within a sentence: one line, no control characters, not long. */
export function quoted(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?");
  return line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line;
}
