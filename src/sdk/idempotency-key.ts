// A key that lets Pilvi recognize a request that is sent again.

/** 128 random bits as hexadecimal digits; unlike `randomUUID`, browsers have this on addresses without TLS too. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
