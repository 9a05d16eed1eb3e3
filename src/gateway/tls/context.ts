// What all TLS sessions of the gateway have in common: the certificate, and how TLS is spoken.
import { alpnSelector } from "./alpn.ts";
import { endPointHash } from "./end-point-hash.ts";
import { type Address, openSsl, type OpenSsl } from "./openssl.ts";
import { failure, readCertificates, readPrivateKey } from "./pem.ts";
import { TlsSession } from "./session.ts";

// The numbers of OpenSSL's macros (ssl.h), which are the same in all of its versions 3.
const SSL_CTRL_EXTRA_CHAIN_CERT = 14;
const SSL_CTRL_MODE = 33;
const SSL_CTRL_SET_READ_AHEAD = 41;
const SSL_CTRL_SET_SESS_CACHE_MODE = 44;
const SSL_CTRL_SET_MIN_PROTO_VERSION = 123;
const TLS1_2_VERSION = 0x0303;
const SSL_SESS_CACHE_OFF = 0;
const SSL_MODE_ENABLE_PARTIAL_WRITE = 1;
const SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER = 2;
/** Frees the buffers of a connection on which nothing happens, about 34 KB. */
const SSL_MODE_RELEASE_BUFFERS = 16;
/** Most clients of databases close the connection without a word of TLS. */
const SSL_OP_IGNORE_UNEXPECTED_EOF = 2 ** 7;
const SSL_OP_NO_TICKET = 2 ** 14;
const SSL_OP_NO_RENEGOTIATION = 2 ** 30;

/** More than a record, so that small ones which came together are taken from the kernel together. */
const READ_BUFFER_BYTES = 32 * 1024;

/** A certificate to show, and the library that shows it. */
export interface TlsOptions {
  /** The certificate in the PEM format, and after it those that lead to the root, if any. */
  cert: string;
  /** Its private key in the PEM format, without a passphrase. */
  key: string;
  /** The name of libssl of OpenSSL 3 for the system's loader, or its path. */
  library: string;
}

export class TlsContext {
  readonly #ssl: OpenSsl;
  readonly #options: TlsOptions;
  /** One for each list of application protocols: OpenSSL's context knows one way to choose among them. */
  readonly #native = new Map<string, Address>();
  readonly #endPointHash: Uint8Array;

  private constructor(options: TlsOptions) {
    this.#options = options;
    this.#ssl = openSsl(options.library);
    const [certificate, ...chain] = readCertificates(this.#ssl, options.cert);
    this.#endPointHash = endPointHash(this.#ssl, certificate);
    for (const each of [certificate, ...chain]) this.#ssl.X509_free(each);
    this.#nativeFor([]);
  }

  /** @throws Error when the library cannot be loaded, or the key does not belong to the certificate. */
  static open(options: TlsOptions): TlsContext {
    return new TlsContext(options);
  }

  /**
   * A session as the server on a connected socket, which must not block and stays the caller's to close.
   * @param alpn protocols to choose from, the best first. A client that names others only is refused; one that names none is not.
   *   With an empty list nothing is chosen and nobody refused.
   */
  session(fd: number, alpn: readonly string[]): TlsSession {
    const native = this.#ssl.SSL_new(this.#nativeFor(alpn));
    if (native === null) throw failure(this.#ssl, "a TLS session cannot be made");
    this.#ssl.SSL_set_fd(native, fd);
    this.#ssl.SSL_set_accept_state(native);
    return new TlsSession(this.#ssl, native, this.#endPointHash);
  }

  #nativeFor(alpn: readonly string[]): Address {
    const key = alpn.join("\n");
    const known = this.#native.get(key);
    if (known !== undefined) return known;
    const made = newContext(this.#ssl, this.#options, alpn);
    this.#native.set(key, made);
    return made;
  }
}

function newContext(ssl: OpenSsl, options: TlsOptions, alpn: readonly string[]): Address {
  const context = ssl.SSL_CTX_new(ssl.TLS_server_method());
  if (context === null) throw failure(ssl, "TLS cannot be set up");
  try {
    configure(ssl, context);
    showCertificate(ssl, context, options);
  } catch (error) {
    ssl.SSL_CTX_free(context);
    throw error;
  }
  if (alpn.length > 0) ssl.SSL_CTX_set_alpn_select_cb(context, alpnSelector(alpn), null);
  return context;
}

function configure(ssl: OpenSsl, context: Address): void {
  const control = (command: number, value: number) => ssl.SSL_CTX_ctrl(context, command, value, null);
  control(SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION);
  control(
    SSL_CTRL_MODE,
    SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS,
  );
  // No session is taken up again, as in Postgres: its clients cannot, it costs each handshake time and each connection
  // memory, and keys that seal tickets for years would undo forward secrecy.
  control(SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF);
  ssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_READ_AHEAD, 1, null);
  ssl.SSL_CTX_set_default_read_buffer_len(context, READ_BUFFER_BYTES);
  ssl.SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_IGNORE_UNEXPECTED_EOF);
}

function showCertificate(ssl: OpenSsl, context: Address, { cert, key }: TlsOptions): void {
  const [certificate, ...chain] = readCertificates(ssl, cert);
  // The context counts its own use of the first, and takes the others over.
  const isTaken = ssl.SSL_CTX_use_certificate(context, certificate) === 1;
  ssl.X509_free(certificate);
  for (const each of chain) ssl.SSL_CTX_ctrl(context, SSL_CTRL_EXTRA_CHAIN_CERT, 0, each);
  if (!isTaken) throw failure(ssl, "the certificate cannot be shown");
  const privateKey = readPrivateKey(ssl, key);
  const isPair =
    ssl.SSL_CTX_use_PrivateKey(context, privateKey) === 1 && ssl.SSL_CTX_check_private_key(context) === 1;
  ssl.EVP_PKEY_free(privateKey);
  if (!isPair) throw failure(ssl, "the private key does not belong to the certificate");
}
