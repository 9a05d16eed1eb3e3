// Text that people hand to a command in files and on its input.
import { CommandError } from "./failure.ts";

/**
 * The text of bytes in UTF-8, without the mark at its beginning that some editors write.
 * @param name what the bytes come from, as an error names it.
 * @throws CommandError for other bytes: replaced by other characters they would be stored, and nobody would notice.
 */
export function utf8Text(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new CommandError(`${name} is no text in UTF-8.`);
  }
}
