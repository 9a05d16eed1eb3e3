// What all TLS sessions of the gateway have in common: the certificates, of which the client's server name chooses.
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

/** What is shown: the certificate for clients that name no server or an unknown one, and those for others. */
export interface Certificates extends Pair {
  /** The server names that choose the first, unless another is for them more exactly. */
  names?: readonly string[];
  others?: readonly NamedCertificate[];
}

/** Certificates to show, and the library that shows them. */
export interface TlsOptions extends Certificates {
  /** The name of libssl of OpenSSL 3 for the system's loader, or its path. */
  library: string;
}

export class TlsContext {
  readonly #ssl: OpenSsl;
  /** OpenSSL keeps the addresses of these for as long as any session lives, so none of them is ever closed. */
  readonly #serverNameCallbacks = new Map<string, JSCallback>();
  #shown: ShownCertificate[];
  #byName: ByServerName<ShownCertificate>;

  private constructor({ library, ...certificates }: TlsOptions) {
    this.#ssl = openSsl(library);
    ({ shown: this.#shown, byName: this.#byName } = this.#make(certificates));
  }

  /** @throws Error when the library cannot be loaded, or a key does not belong to its certificate. */
  static open(options: TlsOptions): TlsContext {
    return new TlsContext(options);
  }

  /**
   * Shows others to all who come from here on; sessions that have begun go on with theirs.
   * @throws Error as `open`, and the former ones are shown on.
   */
  replace(certificates: Certificates): void {
    const former = this.#shown;
    ({ shown: this.#shown, byName: this.#byName } = this.#make(certificates));
    for (const each of former) each.free();
  }

  /**
   * A session as the server on a connected socket, which must not block and stays the caller's to close.
   * @param alpn protocols to choose from, the best first. A client that names others only is refused; one that names none is not.
   *   With an empty list nothing is chosen and nobody refused.
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

  /** The address of a function that has a session show the certificate for the name that its client asks for. */
  #serverNameCallback(alpn: readonly string[]): Address {
    const key = alpn.join("\n");
    const callback = this.#serverNameCallbacks.get(key) ?? this.#newCallback(alpn);
    this.#serverNameCallbacks.set(key, callback);
    if (callback.ptr === null) throw new Error("the callback for server names is closed");
    return callback.ptr;
  }

  /** OpenSSL calls it on the thread that does the handshake, before that call returns, and also when no server is named. */
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
