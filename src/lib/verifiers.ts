// The verifiers by which engines check a password, so that the password itself never reaches an engine's log or disk.
import { createHash, createHmac, pbkdf2Sync } from "node:crypto";

const ITERATIONS = 4096;
const SALT_BYTES = 16;

/**
 * The SCRAM-SHA-256 verifier of a password (RFC 5802, RFC 7677) in the form that Postgres stores in
 * `pg_authid.rolpassword`.
 * @param saltSeed makes the salt, so that the same password gives the same spec again; the id of the resource will do.
 */
export function scramVerifier(password: string, saltSeed: string): string {
  const salt = createHash("sha256").update(saltSeed).digest().subarray(0, SALT_BYTES);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, "sha256");
  const storedKey = createHash("sha256").update(hmac(salted, "Client Key")).digest("base64");
  const serverKey = hmac(salted, "Server Key").toString("base64");
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}

/**
 * The verifier of MySQL and MariaDB for `mysql_native_password`: `*` and the SHA-1 of the SHA-1, in upper-case
 * hexadecimal.
 */
export function nativeVerifier(password: string): string {
  const once = createHash("sha1").update(password).digest();
  return `*${createHash("sha1").update(once).digest("hex").toUpperCase()}`;
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
