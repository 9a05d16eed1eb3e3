// Making, hashing, comparing and sealing secrets.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

const LOWER_CASE = "abcdefghijklmnopqrstuvwxyz0123456789";
const MIXED_CASE = `ABCDEFGHIJKLMNOPQRSTUVWXYZ${LOWER_CASE}`;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A random string of letters and digits; 32 of them carry 190 bits. */
export function newPassword(length = 32): string {
  return randomText(MIXED_CASE, length);
}

/** A random name of lower-case letters and digits, which need not be secret; 20 of them carry 103 bits. */
export function newKey(length = 20): string {
  return randomText(LOWER_CASE, length);
}

function randomText(alphabet: string, length: number): string {
  // Bytes beyond the last multiple of the alphabet's length are dropped; otherwise its first letters would come more
  // often.
  const end = 256 - (256 % alphabet.length);
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < end && text.length < length) text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}

/** SHA-256 in lower-case hexadecimal. */
export function sha256Hex(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Encrypts stored secrets with AES-256-GCM; every ciphertext names its key and is bound to its purpose. */
export class Vault {
  readonly keyId: string;
  readonly #key: Uint8Array;

  /** @param key 32 bytes. */
  constructor(key: Uint8Array) {
    if (key.length !== 32) throw new Error("an encryption key has 32 bytes");
    this.#key = key;
    this.keyId = sha256Hex(key).slice(0, 8);
  }

  /** @param context the owner of the secret, such as a resource's id; opening it elsewhere fails. */
  seal(plaintext: string, context: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([
      nonce,
      cipher.update(plaintext, "utf8"),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return `${this.keyId}:${sealed.toString("base64")}`;
  }

  /** @throws when the ciphertext was made with another key or for another context, or was changed. */
  open(ciphertext: string, context: string): string {
    const [keyId, body] = ciphertext.split(":", 2);
    if (keyId !== this.keyId || body === undefined) {
      throw new Error(`this secret was sealed with key ${keyId}, and the key here is ${this.keyId}`);
    }
    const sealed = Buffer.from(body, "base64");
    const decipher = createDecipheriv("aes-256-gcm", this.#key, sealed.subarray(0, NONCE_BYTES));
    decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-TAG_BYTES));
    const middle = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
    return Buffer.concat([decipher.update(middle), decipher.final()]).toString("utf8");
  }

  /** A key of 32 bytes for another purpose, which does not lead back to this key. */
  deriveKey(purpose: string): Uint8Array<ArrayBuffer> {
    return new Uint8Array(hkdfSync("sha256", this.#key, "", purpose, 32));
  }

  /** A password that the key can make again, for a service that must be reached before the store is open. */
  derivePassword(purpose: string): string {
    return Buffer.from(hkdfSync("sha256", this.#key, "", purpose, 24)).toString("base64url");
  }
}
