// The `tls-server-end-point` channel binding of a certificate (RFC 5929, section 4.1).
import { createHash, type X509Certificate } from "node:crypto";

/** RSASSA-PSS keeps its hash algorithm in parameters. */
const PSS = "1.2.840.113549.1.1.10";
/** The encoded identifiers of RSASSA-PSS, and of the hash algorithms up to their last byte (RFC 4055). */
const PSS_BYTES = Buffer.from("06092a864886f70d01010a", "hex");
const HASH_BYTES = Buffer.from("0609608648016503040200", "hex").subarray(0, -1);
/** By the last byte. */
const PSS_HASHES: Partial<Record<number, string>> = { 1: "sha256", 2: "sha384", 3: "sha512", 4: "sha224" };

/**
 * The hash of the certificate, by the hash algorithm of its signature, with SHA-256 in place of MD5 and SHA-1.
 * @returns no bytes when the signature has no such algorithm, as for Ed25519: no channel binding is possible then.
 */
export function endPointHash(certificate: X509Certificate): Uint8Array {
  const hash = hashOf(certificate);
  return hash === null ? new Uint8Array() : new Uint8Array(createHash(hash).update(certificate.raw).digest());
}

function hashOf({ raw, signatureAlgorithm, signatureAlgorithmOid }: X509Certificate): string | null {
  if (signatureAlgorithmOid === PSS) return pssHash(raw);
  const name = /(md5|sha)-?(\d*)/i.exec(signatureAlgorithm ?? "");
  if (name === null) return null;
  const [, family = "", bits = ""] = name;
  return family.toLowerCase() === "md5" || bits === "1" || bits === "" ? "sha256" : `sha${bits}`;
}

/** The certificate names its algorithm first in its signed part. SHA-1 is the hash of a name without parameters. */
function pssHash(raw: Buffer): string {
  const at = raw.indexOf(PSS_BYTES) + PSS_BYTES.length;
  // Only the headers of three members stand between the two.
  const found = raw.subarray(at, at + 32).indexOf(HASH_BYTES);
  return PSS_HASHES[raw[at + found + HASH_BYTES.length] ?? 0] ?? "sha256";
}
