// The `tls-server-end-point` channel binding of a certificate (RFC 5929, section 4.1).
import { type Address, memory, type OpenSsl } from "./openssl.ts";

const NID_MD5 = 4;
const NID_SHA1 = 64;
const NID_SHA256 = 672;
/** EVP_MAX_MD_SIZE. */
const MAX_HASH_BYTES = 64;

/**
 * The hash of the certificate, by the hash algorithm of its signature, with SHA-256 in place of MD5 and SHA-1.
 * @returns no bytes when the signature has no such algorithm, as for Ed25519: no channel binding is possible then.
 */
export function endPointHash(ssl: OpenSsl, certificate: Address): Uint8Array {
  const name = ssl.OBJ_nid2sn(hashNid(ssl, certificate));
  const algorithm = name === null ? null : ssl.EVP_get_digestbyname(name);
  const hash = new Uint8Array(new ArrayBuffer(MAX_HASH_BYTES));
  const length = memory(4);
  const isMade = algorithm !== null && ssl.X509_digest(certificate, algorithm, hash, length.address) === 1;
  ssl.ERR_clear_error();
  return isMade ? hash.slice(0, length.view.getUint32(0, true)) : new Uint8Array();
}

function hashNid(ssl: OpenSsl, certificate: Address): number {
  const found = memory(4);
  ssl.X509_get_signature_info(certificate, found.address, null, null, null);
  const nid = found.view.getInt32(0, true);
  return nid === NID_MD5 || nid === NID_SHA1 ? NID_SHA256 : nid;
}
