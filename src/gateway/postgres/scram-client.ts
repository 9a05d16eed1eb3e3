// Logs into an engine with SCRAM-SHA-256 from the keys that a client's proof gave, without the password.
import { hmac, isSame, makeNonce, readKey, xor, type Hashing, type Verifier } from "./scram.ts";

/** gs2-header of a client without channel binding, and the same in Base64. */
const HEADER = "n,,";
const BINDING = Buffer.from(HEADER).toString("base64");

/** What a server asked for. */
export interface Challenge {
  /** server-first-message. */
  text: string;
  hashing: Hashing;
  /** Of both sides. */
  nonce: string;
}

export class ScramClient {
  readonly #nonce = makeNonce();

  /** client-first-message. Postgres takes the user's name from the startup packet. */
  get first(): string {
    return `${HEADER}${this.#bare}`;
  }

  get #bare(): string {
    return `n=,r=${this.#nonce}`;
  }

  /** @returns null for what is no server-first-message that answers `first`. */
  readServerFirst(text: string): Challenge | null {
    const match = /^r=([^,]+),s=([^,]+),i=([1-9]\d{0,9})$/.exec(text);
    if (match === null) return null;
    const [, nonce = "", salt = "", iterations = ""] = match;
    if (!nonce.startsWith(this.#nonce) || nonce.length === this.#nonce.length) return null;
    return { text, hashing: { salt, iterations: Number(iterations) }, nonce };
  }

  /** client-final-message. @param clientKey the one that belongs to the verifier. */
  final(challenge: Challenge, clientKey: Uint8Array, { storedKey }: Verifier): string {
    const proof = xor(clientKey, hmac(storedKey, this.#authMessage(challenge)));
    return `${this.#finalWithoutProof(challenge)},p=${proof.toString("base64")}`;
  }

  /** Whether a server-final-message proves that the server knows the verifier. */
  isProved(challenge: Challenge, text: string, { serverKey }: Verifier): boolean {
    const signature = text.startsWith("v=") ? readKey(text.slice(2)) : null;
    return signature !== null && isSame(signature, hmac(serverKey, this.#authMessage(challenge)));
  }

  #finalWithoutProof({ nonce }: Challenge): string {
    return `c=${BINDING},r=${nonce}`;
  }

  #authMessage(challenge: Challenge): string {
    return `${this.#bare},${challenge.text},${this.#finalWithoutProof(challenge)}`;
  }
}
