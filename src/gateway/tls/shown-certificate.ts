// One certificate in OpenSSL: a context for each list of application protocols.
import { alpnSelector } from "./alpn.ts";
import type { Address, OpenSsl } from "./openssl.ts";
import { failure, readCertificates, readPrivateKey } from "./pem.ts";

// The values of OpenSSL's macros (ssl.h, tls1.h), which are the same in all versions 3.
const SSL_CTRL_EXTRA_CHAIN_CERT = 14;
const SSL_CTRL_MODE = 33;
const SSL_CTRL_SET_READ_AHEAD = 41;
const SSL_CTRL_SET_SESS_CACHE_MODE = 44;
const SSL_CTRL_SET_TLSEXT_SERVERNAME_CB = 53;
const SSL_CTRL_SET_MIN_PROTO_VERSION = 123;
const TLS1_2_VERSION = 0x0303;
const SSL_SESS_CACHE_OFF = 0;
const SSL_MODE_ENABLE_PARTIAL_WRITE = 1;
const SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER = 2;
/** Frees the buffers of an idle connection, about 34 KB. */
const SSL_MODE_RELEASE_BUFFERS = 16;
/** Most clients of databases close the connection without TLS's close_notify. */
const SSL_OP_IGNORE_UNEXPECTED_EOF = 2 ** 7;
const SSL_OP_NO_TICKET = 2 ** 14;
const SSL_OP_NO_RENEGOTIATION = 2 ** 30;

/** More than one record, so that small records that arrived together are read from the kernel together. */
const READ_BUFFER_BYTES = 32 * 1024;

/** A certificate and its key, in the PEM format. */
export interface Pair {
  /** The certificate, followed by its chain up to the root, if any. */
  cert: string;
  /** Its private key, without a passphrase. */
  key: string;
}

export class ShownCertificate {
  readonly #ssl: OpenSsl;
  readonly #pair: Pair;
  readonly #serverNameCallback: (alpn: readonly string[]) => Address;
  /** A context for each list of application protocols: an OpenSSL context has a single ALPN callback. */
  readonly #contexts = new Map<string, Address>();

  /**
   * @param serverNameCallback the address of the callback that selects a certificate by server name.
   * @throws Error when the key does not belong to the certificate.
   */
  constructor(ssl: OpenSsl, pair: Pair, serverNameCallback: (alpn: readonly string[]) => Address) {
    this.#ssl = ssl;
    this.#pair = pair;
    this.#serverNameCallback = serverNameCallback;
    this.contextFor([]);
  }

  /** The SSL_CTX for a list of application protocols; this object owns it. */
  contextFor(alpn: readonly string[]): Address {
    const key = alpn.join("\n");
    const known = this.#contexts.get(key);
    if (known !== undefined) return known;
    const made = this.#newContext(alpn);
    this.#contexts.set(key, made);
    return made;
  }

  /** Frees the contexts; sessions that have begun keep theirs. */
  free(): void {
    for (const context of this.#contexts.values()) this.#ssl.SSL_CTX_free(context);
    this.#contexts.clear();
  }

  #newContext(alpn: readonly string[]): Address {
    const ssl = this.#ssl;
    const context = ssl.SSL_CTX_new(ssl.TLS_server_method());
    if (context === null) throw failure(ssl, "TLS cannot be set up");
    try {
      configure(ssl, context);
      showCertificate(ssl, context, this.#pair);
    } catch (error) {
      ssl.SSL_CTX_free(context);
      throw error;
    }
    if (alpn.length > 0) ssl.SSL_CTX_set_alpn_select_cb(context, alpnSelector(alpn), null);
    ssl.SSL_CTX_callback_ctrl(context, SSL_CTRL_SET_TLSEXT_SERVERNAME_CB, this.#serverNameCallback(alpn));
    return context;
  }
}

function configure(ssl: OpenSsl, context: Address): void {
  const control = (command: number, value: number) => ssl.SSL_CTX_ctrl(context, command, value, null);
  control(SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION);
  control(
    SSL_CTRL_MODE,
    SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS,
  );
  // No session resumption, as in Postgres: its clients cannot resume, resumption costs time in each handshake and
  // memory for each connection, and ticket keys that live for years would undo forward secrecy.
  control(SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF);
  ssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_READ_AHEAD, 1, null);
  ssl.SSL_CTX_set_default_read_buffer_len(context, READ_BUFFER_BYTES);
  ssl.SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_IGNORE_UNEXPECTED_EOF);
}

function showCertificate(ssl: OpenSsl, context: Address, { cert, key }: Pair): void {
  const [certificate, ...chain] = readCertificates(ssl, cert);
  // The context takes its own reference to the first certificate, and the ownership of the others.
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
