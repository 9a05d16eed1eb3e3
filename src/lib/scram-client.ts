// SCRAM-SHA-256 as the client of an engine, with the keys from a client's proof and without the password.
import { hmac, isSame, makeNonce, readKey, xor, type Hashing, type Verifier } from "./scram.ts";

/** The gs2-header of a client without channel binding, and its Base64 form. */
const HEADER = "n,,";
const BINDING = Buffer.from(HEADER).toString("base64");

/** A server's challenge. */
export interface Challenge {
  /** server-first-message. */
  text: string;
  hashing: Hashing;
  /** The nonce of both sides. */
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

  /** @returns null for a text that is no server-first-message in answer to `first`. */
  readServerFirst(text: string): Challenge | null {
    const match = /^r=([^,]+),s=([^,]+),i=([1-9]\d{0,9})$/.exec(text);
    if (match === null) return null;
    const [, nonce = "", salt = "", iterations = ""] = match;
    if (!nonce.startsWith(this.#nonce) || nonce.length === this.#nonce.length) return null;
    return { text, hashing: { salt, iterations: Number(iterations) }, nonce };
  }

  /** client-final-message. @param clientKey the ClientKey of the verifier's password. */
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
