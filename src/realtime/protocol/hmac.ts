// HMAC-SHA256 (RFC 2104) from plain hashes. The runtime has it as well, but the garbage collection of its objects costs
// a server that signs tens of thousands of times a second more than the hashing.
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** Nearly all texts that are signed here are shorter. */
const MAX_TEXT_LENGTH = 1_024;
/** Far more secrets than a cluster has; the limit only keeps rotated secrets from staying for ever. */
const MAX_KEYS = 1_000;

const encoder = new TextEncoder();
const keys = new Map<string, Key>();

/** A secret, ready to be hashed with a text: both hashes begin with it. */
class Key {
  readonly #inner = new Uint8Array(BLOCK_BYTES + 3 * MAX_TEXT_LENGTH);
  readonly #text = this.#inner.subarray(BLOCK_BYTES);
  readonly #outer = new Uint8Array(BLOCK_BYTES + DIGEST_BYTES);
  readonly #digest = this.#outer.subarray(BLOCK_BYTES);

  constructor(secret: Uint8Array) {
    for (let index = 0; index < BLOCK_BYTES; index += 1) {
      const byte = secret[index] ?? 0;
      this.#inner[index] = byte ^ 0x36;
      this.#outer[index] = byte ^ 0x5c;
    }
  }

  hex(text: string): string {
    const { written } = encoder.encodeInto(text, this.#text);
    Bun.SHA256.hash(this.#inner.subarray(0, BLOCK_BYTES + written), this.#digest);
    return Bun.SHA256.hash(this.#outer, "hex");
  }
}

/** HMAC-SHA256 in lower-case hexadecimal. */
export function hmacHex(secret: string, text: string): string {
  if (text.length > MAX_TEXT_LENGTH) return slowHmacHex(secret, text);
  const known = keys.get(secret);
  if (known !== undefined) return known.hex(text);
  const bytes = encoder.encode(secret);
  // A longer secret would have to be hashed first.
  if (bytes.length > BLOCK_BYTES) return slowHmacHex(secret, text);
  if (keys.size >= MAX_KEYS) keys.clear();
  const key = new Key(bytes);
  keys.set(secret, key);
  return key.hex(text);
}

function slowHmacHex(secret: string, text: string): string {
  return new Bun.CryptoHasher("sha256", secret).update(text).digest("hex");
}
