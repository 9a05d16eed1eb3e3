// Challenges for authenticators. A challenge carries its end and a seal, so that nothing is stored for a client that
// only asks; those that were used are stored until they have ended anyway.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { sha256Hex } from "../../../lib/secrets.ts";
import type { Transaction } from "../../../store/database.ts";

const RANDOM_BYTES = 16;
const END_BYTES = 6;
const SEAL_BYTES = 32;
const LIFE_SECONDS = 300;

/** Makes and checks challenges. */
export class Challenges {
  readonly #key: string;

  /** @param key which no client knows. */
  constructor(key: string) {
    this.#key = key;
  }

  /** A new challenge, valid for five minutes. @param purpose what it may be used for, and by which user. */
  create(purpose: string): Uint8Array<ArrayBuffer> {
    const end = Buffer.alloc(END_BYTES);
    end.writeUIntBE(Math.floor(Date.now() / 1000) + LIFE_SECONDS, 0, END_BYTES);
    const body = Buffer.concat([randomBytes(RANDOM_BYTES), end]);
    return Uint8Array.from(Buffer.concat([body, this.#seal(body, purpose)]));
  }

  /** Whether a challenge, in base64url, was made here for this purpose and has not ended. */
  isValid(text: string, purpose: string): boolean {
    const bytes = Buffer.from(text, "base64url");
    if (bytes.length !== RANDOM_BYTES + END_BYTES + SEAL_BYTES) return false;
    const body = bytes.subarray(0, RANDOM_BYTES + END_BYTES);
    if (!timingSafeEqual(bytes.subarray(body.length), this.#seal(body, purpose))) return false;
    return body.readUIntBE(RANDOM_BYTES, END_BYTES) * 1000 > Date.now();
  }

  #seal(body: Uint8Array, purpose: string): Buffer {
    return createHmac("sha256", this.#key).update(purpose).update("\0").update(body).digest();
  }
}

/** Uses a challenge up; those that have ended are deleted. @returns false when it was used before. */
export async function useChallenge(tx: Transaction, challenge: string): Promise<boolean> {
  await tx`
    delete from used_challenges where challenge_hash in (
      select challenge_hash from used_challenges where expires_at < now() for update skip locked)`;
  const rows = await tx`
    insert into used_challenges (challenge_hash, expires_at)
    values (${sha256Hex(challenge)}, now() + make_interval(secs => ${LIFE_SECONDS}))
    on conflict do nothing returning challenge_hash`;
  return rows.length > 0;
}
