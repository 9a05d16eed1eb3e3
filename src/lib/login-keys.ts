// Login keys: what a client's proof of its password reveals, and what suffices to log in at the engine. The key of the
// current password is kept sealed with that of the former password, so a client that proves the former password can be
// logged in with the current password, and without either proof the sealed key is of no use.
import { hkdfSync } from "node:crypto";

const PURPOSE = "pilvi login key";

/**
 * Seals the key of the current password.
 * @param verifier that of the current password. It makes the mask different for each pair of keys, and checks a key
 *   that was opened.
 * @returns the sealed key in Base64, always the same for the same arguments.
 */
export function sealLoginKey(key: Uint8Array, formerKey: Uint8Array, verifier: string): string {
  return mask(key, formerKey, verifier).toString("base64");
}

/** Opens a sealed key. The caller checks the result with the verifier: another former key opens to another text. */
export function openLoginKey(sealed: string, formerKey: Uint8Array, verifier: string): Buffer {
  return mask(Buffer.from(sealed, "base64"), formerKey, verifier);
}

/** Adds a mask to a key; the same mask again takes it away. */
function mask(key: Uint8Array, formerKey: Uint8Array, verifier: string): Buffer {
  const bytes = new Uint8Array(hkdfSync("sha256", formerKey, verifier, PURPOSE, key.length));
  return Buffer.from(key.map((byte, index) => byte ^ (bytes[index] ?? 0)));
}
