// SCRAM-SHA-256 verifiers, so that a password itself never reaches the engine's log or disk (RFC 5802, RFC 7677).
import { createHash, createHmac, pbkdf2Sync } from "node:crypto";

const ITERATIONS = 4096;
const SALT_BYTES = 16;

/**
 * The verifier of a password in the form that Postgres stores in `pg_authid.rolpassword`.
 * @param saltSeed makes the salt, so that the same wish gives the same spec again; the id of the resource will do.
 */
export function scramVerifier(password: string, saltSeed: string): string {
  const salt = createHash("sha256").update(saltSeed).digest().subarray(0, SALT_BYTES);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, "sha256");
  const storedKey = createHash("sha256").update(hmac(salted, "Client Key")).digest("base64");
  const serverKey = hmac(salted, "Server Key").toString("base64");
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
