// The parts that both sides of a SCRAM-SHA-256 exchange share (RFC 5802, RFC 7677).
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** The names of the mechanisms in SASL. */
export const SCRAM = "SCRAM-SHA-256";
export const SCRAM_PLUS = "SCRAM-SHA-256-PLUS";

/** The length of a SHA-256 hash. */
const KEY_BYTES = 32;

/** The values of Postgres (SCRAM_RAW_NONCE_LEN, SCRAM_DEFAULT_SALT_LEN, SCRAM_SHA_256_DEFAULT_ITERATIONS). */
const NONCE_BYTES = 18;
const SALT_BYTES = 16;
const ITERATIONS = 4096;

/** A server's record of a password. */
export interface Verifier {
  /** In Base64. */
  salt: string;
  iterations: number;
  storedKey: Buffer;
  serverKey: Buffer;
}

/** The hashing parameters that a server sends in its challenge. */
export type Hashing = Pick<Verifier, "salt" | "iterations">;

/** @returns null for a text that is no verifier of SCRAM-SHA-256, such as an MD5 verifier. */
export function readVerifier(text: string): Verifier | null {
  const match = /^SCRAM-SHA-256\$([1-9]\d{0,9}):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)$/.exec(
    text,
  );
  if (match === null) return null;
  const [, iterations = "", salt = "", stored = "", server = ""] = match;
  const storedKey = readKey(stored);
  const serverKey = readKey(server);
  if (storedKey === null || serverKey === null) return null;
  return { salt, iterations: Number(iterations), storedKey, serverKey };
}

/** The nonce of this process for the salts of mock verifiers. */
const ownNonce = randomBytes(KEY_BYTES);

/**
 * A verifier that no password fits, for unknown users. A user gets the same salt each time, like a known user: the salt
 * that Postgres itself sends for that name (`scram_mock_salt`), as long as its nonce is known.
 * @param nonce in hexadecimal digits.
 */
export function mockVerifier(user: string, nonce: string | null): Verifier {
  const secret = nonce === null ? ownNonce : Buffer.from(nonce, "hex");
  const salt = sha256(Buffer.concat([Buffer.from(user), secret]))
    .subarray(0, SALT_BYTES)
    .toString("base64");
  return {
    salt,
    iterations: ITERATIONS,
    storedKey: randomBytes(KEY_BYTES),
    serverKey: randomBytes(KEY_BYTES),
  };
}

export function isSameHashing(one: Hashing, other: Hashing): boolean {
  return one.salt === other.salt && one.iterations === other.iterations;
}

/** A nonce, printable and without commas. */
export function makeNonce(): string {
  return randomBytes(NONCE_BYTES).toString("base64");
}

/** Reads a key, proof or signature in Base64; null for any other text. */
export function readKey(text: string): Buffer | null {
  const key = Buffer.from(text, "base64");
  return key.length === KEY_BYTES && key.toString("base64") === text ? key : null;
}

/** @param text each character is one byte. */
export function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text, "latin1").digest();
}

export function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

/** @param other as long as `one`. */
export function xor(one: Uint8Array, other: Uint8Array): Buffer {
  return Buffer.from(one.map((byte, index) => byte ^ (other[index] ?? 0)));
}

/** Compares in constant time. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
