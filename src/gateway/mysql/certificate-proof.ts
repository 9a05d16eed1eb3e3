// The proof that the owner of the certificate knows the client's password. Clients from MariaDB 11.4 on need it when they
// have no authority for the certificate, and read it in the OK of their login.
import { PayloadReader } from "./payload-reader.ts";

/** The proof is a SHA-256 hash in hexadecimal digits. */
const FORM = 1;
const STATUS_AND_WARNINGS_BYTES = 4;

/** The parts of a proof. */
export interface CertificateProof {
  /** SHA1(SHA1(password)), of the password that the client has. */
  verifier: Uint8Array;
  /** The salt of the greeting. */
  salt: Uint8Array;
  /** The SHA-256 hash of the certificate. */
  fingerprint: Uint8Array;
}

/**
 * The engine's OK with the proof in place of its own info; state of the session behind it stays.
 * @throws MalformedPayload
 */
export function withCertificateProof(ok: Uint8Array, parts: CertificateProof): Uint8Array {
  const reader = new PayloadReader(ok, 1);
  // The affected rows and the last inserted id.
  reader.lengthEncodedNumber();
  reader.lengthEncodedNumber();
  reader.bytes(STATUS_AND_WARNINGS_BYTES);
  const head = ok.subarray(0, reader.offset);
  if (!reader.isAtEnd) reader.lengthEncoded();
  const info = proofOf(parts);
  return Buffer.concat([head, Uint8Array.of(info.length), info, reader.rest()]);
}

function proofOf({ verifier, salt, fingerprint }: CertificateProof): Uint8Array {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const part of [verifier, salt, fingerprint]) hasher.update(part);
  return Buffer.concat([Uint8Array.of(FORM), Buffer.from(hasher.digest("hex"))]);
}
