// Names and values of keys in answers: as text where they are text, else in base64, and cut where they are long.
import { isUtf8 } from "node:buffer";
import type { KeyText } from "./schema.ts";

/** The most bytes of a name or an element that are shown. */
export const MAX_TEXT_BYTES = 4096;

/** A character of UTF-8 has at most this many bytes after its first. */
const MAX_CONTINUATION_BYTES = 3;

/** @param most how many bytes are shown. */
export function keyText(bytes: Buffer, most = MAX_TEXT_BYTES): KeyText {
  const isCut = bytes.length > most;
  const shown = isCut ? wholeCharacters(bytes.subarray(0, most)) : bytes;
  const encoding = isUtf8(shown) ? "utf8" : "base64";
  return { text: shown.toString(encoding), encoding, bytes: bytes.length, is_cut: isCut };
}

/** Without the beginning of a character at the end; bytes that are no text stay as they are. */
function wholeCharacters(bytes: Buffer): Buffer {
  const most = Math.min(MAX_CONTINUATION_BYTES, bytes.length - 1);
  for (let less = 0; less <= most; less++) {
    const shorter = bytes.subarray(0, bytes.length - less);
    if (isUtf8(shorter)) return shorter;
  }
  return bytes;
}

/** The bytes of a key in an address. */
export function keyOf(text: string, encoding: "utf8" | "base64"): Buffer {
  return Buffer.from(text, encoding);
}
