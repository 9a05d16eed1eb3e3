// The state that all TLS sessions of the gateway share: the certificates, selected by the client's server name (SNI).
import { FFIType, JSCallback } from "bun:ffi";
import type { NamedCertificate } from "../../contracts/certificates.ts";
import { ByServerName } from "../../lib/certificates.ts";
import { type Address, openSsl, type OpenSsl } from "./openssl.ts";
import { failure } from "./pem.ts";
import { TlsSession } from "./session.ts";
import { ShownCertificate, type Pair } from "./shown-certificate.ts";

const TLSEXT_NAMETYPE_HOST_NAME = 0;
const SSL_TLSEXT_ERR_OK = 0;

const { i32, ptr: pointer } = FFIType;

/** The default certificate, for clients without a known server name, and the certificates for other names. */
export interface Certificates extends Pair {
  /** The server names of the default certificate; another certificate with a more exact name goes first. */
  names?: readonly string[];
  others?: readonly NamedCertificate[];
}

/** The certificates, and the TLS library. */
export interface TlsOptions extends Certificates {
  /** The libssl of OpenSSL 3: a name for the system's loader, or a path. */
  library: string;
}

export class TlsContext {
  readonly #ssl: OpenSsl;
  /** OpenSSL keeps the addresses of the callbacks while any session lives, so no callback is ever closed. */
  readonly #serverNameCallbacks = new Map<string, JSCallback>();
  #shown: ShownCertificate[];
  #byName: ByServerName<ShownCertificate>;

  private constructor({ library, ...certificates }: TlsOptions) {
    this.#ssl = openSsl(library);
    ({ shown: this.#shown, byName: this.#byName } = this.#make(certificates));
  }

  /** @throws Error when the library cannot be loaded, or when a key does not belong to its certificate. */
  static open(options: TlsOptions): TlsContext {
    return new TlsContext(options);
  }

  /**
   * Replaces the certificates for all later sessions; sessions that have begun keep their certificate.
   * @throws Error as `open`; the former certificates stay then.
   */
  replace(certificates: Certificates): void {
    const former = this.#shown;
    ({ shown: this.#shown, byName: this.#byName } = this.#make(certificates));
    for (const each of former) each.free();
  }

  /**
   * A session, as the server, on a connected non-blocking socket; the caller closes the socket.
   * @param alpn the protocols to select from, the best first. A client whose ALPN list has only other protocols is
   *   refused, a client without ALPN is not. An empty list selects nothing and refuses no client.
   */
  session(fd: number, alpn: readonly string[]): TlsSession {
    const native = this.#ssl.SSL_new(this.#byName.find(null).contextFor(alpn));
    if (native === null) throw failure(this.#ssl, "a TLS session cannot be made");
    this.#ssl.SSL_set_fd(native, fd);
    this.#ssl.SSL_set_accept_state(native);
    return new TlsSession(this.#ssl, native);
  }

  #make({ names = [], others = [], ...first }: Certificates) {
    const shown: ShownCertificate[] = [];
    const show = (pair: Pair) => {
      const made = new ShownCertificate(this.#ssl, pair, (alpn) => this.#serverNameCallback(alpn));
      shown.push(made);
      return made;
    };
    try {
      const values = others.map((each) => ({ names: each.names, value: show(each) }));
      return { shown, byName: new ByServerName([{ names, value: show(first) }, ...values]) };
    } catch (error) {
      for (const each of shown) each.free();
      throw error;
    }
  }

  /** The address of a callback that gives a session the certificate for its client's server name. */
  #serverNameCallback(alpn: readonly string[]): Address {
    const key = alpn.join("\n");
    const callback = this.#serverNameCallbacks.get(key) ?? this.#newCallback(alpn);
    this.#serverNameCallbacks.set(key, callback);
    if (callback.ptr === null) throw new Error("the callback for server names is closed");
    return callback.ptr;
  }

  /** OpenSSL calls it on the handshake's thread, before that call returns, and also without a server name. */
  #newCallback(alpn: readonly string[]): JSCallback {
    return new JSCallback(
      (native: Address) => {
        const name = this.#ssl.SSL_get_servername(native, TLSEXT_NAMETYPE_HOST_NAME);
        if (name !== null)
          this.#ssl.SSL_set_SSL_CTX(native, this.#byName.find(String(name)).contextFor(alpn));
        return SSL_TLSEXT_ERR_OK;
      },
      { args: [pointer, pointer, pointer], returns: i32 },
    );
  }
}
