// The certificates of the gateway, chosen by the server name that a client asks for (SNI).
import { createHash, createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import type { TLSOptions } from "bun";
import type { NamedCertificate } from "../../contracts/certificates.ts";
import { messageOf } from "../../lib/errors.ts";
import { ByServerName } from "../../lib/certificates.ts";
import { endPointHash } from "./end-point-hash.ts";

/** A certificate and its key, in the PEM format. */
export interface Pair {
  /** The certificate, followed by its chain up to the root, if any. */
  cert: string;
  /** Its private key, without a passphrase. */
  key: string;
}

/** The default certificate, for clients without a known server name, and the certificates for other names. */
export interface Certificates extends Pair {
  /** The server names of the default certificate; another certificate with a more exact name goes first. */
  names?: readonly string[];
  others?: readonly NamedCertificate[];
}

/** A certificate as TLS sessions show it. */
export interface ShownCertificate {
  options: TLSOptions;
  /** The `tls-server-end-point` channel binding (RFC 5929). */
  endPointHash: Uint8Array;
  /** The SHA-256 hash of the certificate. */
  fingerprint: Uint8Array;
}

const SSL_OP_NO_TICKET = 2 ** 14;
const SSL_OP_NO_RENEGOTIATION = 2 ** 30;

export class TlsCertificates {
  #byName: ByServerName<ShownCertificate>;

  /** @throws Error when a key does not belong to its certificate. */
  constructor(certificates: Certificates) {
    this.#byName = shown(certificates);
  }

  /**
   * Replaces the certificates for all later sessions; sessions that have begun keep their certificate.
   * @throws Error as the constructor; the former certificates stay then.
   */
  replace(certificates: Certificates): void {
    this.#byName = shown(certificates);
  }

  find(serverName: string | null): ShownCertificate {
    return this.#byName.find(serverName);
  }
}

function shown({ names = [], others = [], ...first }: Certificates): ByServerName<ShownCertificate> {
  const rest = others.map((each) => ({ names: each.names, value: shownPair(each) }));
  return new ByServerName([{ names, value: shownPair(first) }, ...rest]);
}

function shownPair({ cert, key }: Pair): ShownCertificate {
  const certificate: X509Certificate = readable("certificate", () => new X509Certificate(cert));
  const privateKey: KeyObject = readable("private key", () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw new Error("the private key does not belong to the certificate");
  const options = {
    cert,
    key,
    // Clients show no certificate.
    requestCert: false,
    rejectUnauthorized: false,
    // No session resumption, as in Postgres: its clients cannot resume, resumption costs time in each handshake and
    // memory for each connection, and ticket keys that live for years would undo forward secrecy.
    secureOptions: SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION,
  };
  const fingerprint = new Uint8Array(createHash("sha256").update(certificate.raw).digest());
  return { options, endPointHash: endPointHash(certificate), fingerprint };
}

function readable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`the ${what} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
