// The verifiers by which engines check a password, so that the password itself never reaches an engine's log or disk,
// and the login keys that belong to them.
import { createHash, createHmac, pbkdf2Sync } from "node:crypto";

const ITERATIONS = 4096;
const SALT_BYTES = 16;

/** The forms of a password that a login needs in its place. */
export interface PasswordForms {
  /** Checks the password. */
  verifier: string;
  /** What a client's proof of the password reveals, and what suffices for a login at the engine. */
  loginKey: Uint8Array;
}

/**
 * The forms of a password for SCRAM-SHA-256 (RFC 5802, RFC 7677): the verifier as Postgres stores it in
 * `pg_authid.rolpassword`, and the ClientKey.
 * @param saltSeed makes the salt, so that the same password gives the same spec again; the id of the resource will do.
 */
export function scramForms(password: string, saltSeed: string): PasswordForms {
  const salt = createHash("sha256").update(saltSeed).digest().subarray(0, SALT_BYTES);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, "sha256");
  const loginKey = hmac(salted, "Client Key");
  const storedKey = createHash("sha256").update(loginKey).digest("base64");
  const serverKey = hmac(salted, "Server Key").toString("base64");
  const verifier = `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
  return { verifier, loginKey };
}

/** The verifier of `scramForms` alone. */
export function scramVerifier(password: string, saltSeed: string): string {
  return scramForms(password, saltSeed).verifier;
}

/**
 * The forms of a password for `mysql_native_password` of MySQL and MariaDB: `*` and the SHA-1 of the SHA-1, in
 * upper-case hexadecimal, and the SHA-1.
 */
export function nativeForms(password: string): PasswordForms {
  const loginKey = createHash("sha1").update(password).digest();
  return { verifier: `*${createHash("sha1").update(loginKey).digest("hex").toUpperCase()}`, loginKey };
}

/** The verifier of `nativeForms` alone. */
export function nativeVerifier(password: string): string {
  return nativeForms(password).verifier;
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
