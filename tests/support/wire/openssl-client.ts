// A TLS client of OpenSSL on a non-blocking socket, for tests that need thousands of clients in a process.
import { dlopen, FFIType, type Pointer } from "bun:ffi";

const { i32, u32, ptr: pointer } = FFIType;

const { symbols: ssl } = dlopen("libssl.so.3", {
  TLS_client_method: { args: [], returns: pointer },
  SSL_CTX_new: { args: [pointer], returns: pointer },
  SSL_new: { args: [pointer], returns: pointer },
  SSL_free: { args: [pointer], returns: FFIType.void },
  SSL_set_fd: { args: [pointer, i32], returns: i32 },
  SSL_set_alpn_protos: { args: [pointer, pointer, u32], returns: i32 },
  SSL_connect: { args: [pointer], returns: i32 },
  SSL_read: { args: [pointer, pointer, i32], returns: i32 },
  SSL_shutdown: { args: [pointer], returns: i32 },
  SSL_write: { args: [pointer, pointer, i32], returns: i32 },
});

const context = ssl.SSL_CTX_new(ssl.TLS_client_method());

/** Each name follows its length. */
const PROTOCOLS = Buffer.from("\x02h2\x0apostgresql", "latin1");

/** Trusts any certificate, and names the protocols `h2` and `postgresql`. */
export class OpenSslClient {
  readonly #native = ssl.SSL_new(context) as Pointer;

  constructor(fd: number) {
    ssl.SSL_set_fd(this.#native, fd);
    ssl.SSL_set_alpn_protos(this.#native, PROTOCOLS, PROTOCOLS.length);
  }

  /** Continues the handshake; whether it is done. */
  handshake(): boolean {
    return ssl.SSL_connect(this.#native) === 1;
  }

  /** @returns how many bytes were read, less than 1 when there are none. */
  read(into: Uint8Array): number {
    return ssl.SSL_read(this.#native, into, into.length);
  }

  /** Sends the bytes as one record. @returns whether the kernel took it. */
  write(bytes: Uint8Array): boolean {
    return ssl.SSL_write(this.#native, bytes, bytes.length) === bytes.length;
  }

  /** Ends its sending. */
  shutdown(): void {
    ssl.SSL_shutdown(this.#native);
  }

  free(): void {
    ssl.SSL_free(this.#native);
  }
}
