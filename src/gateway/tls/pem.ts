// Certificates and keys in the PEM format, read into OpenSSL's own form.
import { type Address, memory, type OpenSsl } from "./openssl.ts";

/** An empty passphrase for OpenSSL, which would ask for one at the terminal otherwise. */
const NO_PASSPHRASE = memory(1);

/**
 * All certificates of a text; the first is the server's own. The caller frees them.
 * @throws Error without a readable certificate.
 */
export function readCertificates(ssl: OpenSsl, pem: string): [Address, ...Address[]] {
  return withBio(ssl, pem, (bio) => {
    const read = () => ssl.PEM_read_bio_X509(bio, null, null, NO_PASSPHRASE.address);
    const first = read();
    if (first === null) throw failure(ssl, "the certificate cannot be read");
    const certificates: [Address, ...Address[]] = [first];
    for (let next = read(); next !== null; next = read()) certificates.push(next);
    return certificates;
  });
}

/**
 * The private key of a text. The caller frees it.
 * @throws Error without a readable key, or when the key is sealed with a passphrase.
 */
export function readPrivateKey(ssl: OpenSsl, pem: string): Address {
  return withBio(ssl, pem, (bio) => {
    const key = ssl.PEM_read_bio_PrivateKey(bio, null, null, NO_PASSPHRASE.address);
    if (key === null) throw failure(ssl, "the private key cannot be read");
    return key;
  });
}

/** An error with OpenSSL's reason; empties OpenSSL's list of errors. @param what the failure, as a clause. */
export function failure(ssl: OpenSsl, what: string): Error {
  const reason = ssl.ERR_reason_error_string(ssl.ERR_peek_error());
  ssl.ERR_clear_error();
  return new Error(reason === null ? what : `${what}: ${reason}`);
}

function withBio<T>(ssl: OpenSsl, text: string, task: (bio: Address) => T): T {
  const bytes = Buffer.from(text);
  const bio = ssl.BIO_new_mem_buf(bytes, bytes.length);
  if (bio === null) throw failure(ssl, "there is no memory for a certificate");
  try {
    return task(bio);
  } finally {
    ssl.BIO_free(bio);
    // OpenSSL records the end of the text as an error too.
    ssl.ERR_clear_error();
  }
}
