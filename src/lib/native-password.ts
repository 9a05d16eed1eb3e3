// The plugin `mysql_native_password`: a client proves its password, and the verifier's owner learns SHA1(password).
import { timingSafeEqual } from "node:crypto";

/** The plugin's name in the protocol. */
export const NATIVE_PASSWORD = "mysql_native_password";
export const SALT_BYTES = 20;
/** A token is SHA1(password) ^ SHA1(salt + SHA1(SHA1(password))). */
const TOKEN_BYTES = 20;

const HASH_BYTES = 20;
const VERIFIER = /^\*[0-9A-F]{40}$/i;
/** A zero would end the salt early for some clients; a dollar sign has a meaning for others. */
const DOLLAR = 0x24;

/** Twenty random bytes of seven bits, like the engines' salts. */
export function newSalt(): Uint8Array {
  return crypto
    .getRandomValues(new Uint8Array(SALT_BYTES))
    .map((byte) => byte & 0x7f)
    .map((byte) => (byte === 0 || byte === DOLLAR ? byte + 1 : byte));
}

/** The bytes of a verifier, `*` and 40 hexadecimal digits; null for anything else, such as no password. */
export function parseVerifier(verifier: string): Uint8Array | null {
  return VERIFIER.test(verifier) ? Buffer.from(verifier.slice(1), "hex") : null;
}

/**
 * Checks a token in constant time.
 * @param verifier SHA1(SHA1(password)).
 * @returns SHA1(password), which suffices for a login at the engine, or null for a token of another password or salt.
 */
export function passwordHashOf(token: Uint8Array, salt: Uint8Array, verifier: Uint8Array): Uint8Array | null {
  if (token.length !== TOKEN_BYTES || verifier.length !== HASH_BYTES) return null;
  const passwordHash = xor(token, sha1(salt, verifier));
  return isHashOf(passwordHash, verifier) ? passwordHash : null;
}

/** Whether a text is SHA1(password) of a verifier with as many bytes. */
export function isHashOf(passwordHash: Uint8Array, verifier: Uint8Array): boolean {
  return timingSafeEqual(sha1(passwordHash), verifier);
}

/** The token that proves the password with this hash. */
export function tokenOf(passwordHash: Uint8Array, salt: Uint8Array): Uint8Array {
  return xor(passwordHash, sha1(salt, sha1(passwordHash)));
}

function sha1(...parts: Uint8Array[]): Uint8Array {
  const hasher = new Bun.CryptoHasher("sha1");
  for (const part of parts) hasher.update(part);
  return hasher.digest();
}

function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, index) => byte ^ (b[index] ?? 0));
}
