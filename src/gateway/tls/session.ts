// TLS as the server on one connected socket that does not block.
import { toArrayBuffer, type Pointer } from "bun:ffi";
import { ENDED, FAILED, WANT_READ, WANT_WRITE } from "../io-result.ts";
import type { TlsInfo } from "../stream.ts";
import { endPointHash } from "./end-point-hash.ts";
import { type Address, memory, type OpenSsl } from "./openssl.ts";

const SSL_ERROR_WANT_READ = 2;
const SSL_ERROR_WANT_WRITE = 3;
const SSL_ERROR_ZERO_RETURN = 6;
const TLSEXT_NAMETYPE_HOST_NAME = 0;

export class TlsSession {
  readonly #ssl: OpenSsl;
  #native: Address | null;
  #state: "handshake" | "open" | "failed" = "handshake";
  /** What the next read will find without a word from the kernel. */
  #ahead: "nothing" | "nothing before room to send" | "maybe bytes" | "the end" = "nothing";

  /** @param native an SSL of OpenSSL, which this object frees. */
  constructor(ssl: OpenSsl, native: Address) {
    this.#ssl = ssl;
    this.#native = native;
  }

  /** Goes on with the handshake as far as it can. To be called again until it is done. */
  handshake(): "done" | "want-read" | "want-write" | "failed" {
    if (this.#state !== "handshake") return this.#state === "open" ? "done" : "failed";
    const result = this.#ssl.SSL_do_handshake(this.#native);
    if (result === 1) {
      this.#state = "open";
      // The client's first bytes may have come with the end of its handshake.
      this.#ahead = "maybe bytes";
      return "done";
    }
    const reason = this.#reason(result);
    if (reason === WANT_READ) return "want-read";
    return reason === WANT_WRITE ? "want-write" : "failed";
  }

  /**
   * Reads what has arrived.
   * @param address where it is put.
   * @param length more than 0; more is left for the next read.
   * @returns how many bytes were read; 0 when the client has closed; WANT_READ, WANT_WRITE or FAILED.
   */
  read(address: number, length: number): number {
    if (this.#state !== "open") return FAILED;
    this.#ahead = "maybe bytes";
    let done = 0;
    do {
      // One call gives one record at most, while the client may have sent many small ones.
      const count = this.#ssl.SSL_read(this.#native, (address + done) as Pointer, length - done);
      if (count <= 0) {
        const reason = this.#reason(count);
        this.#ahead = aheadAfter(reason);
        return done === 0 ? reason : done;
      }
      done += count;
    } while (done < length && this.#ssl.SSL_has_pending(this.#native) === 1);
    return done;
  }

  /**
   * Sends what the kernel takes now.
   *
   * What was not sent has to come first in the next call, at least as long as it was or in its whole first 16 KiB, since it may
   * have been encrypted already; it may be at another address.
   * @returns how many bytes were sent, more than 0; WANT_WRITE or FAILED.
   */
  write(address: number, length: number): number {
    if (this.#state !== "open") return FAILED;
    let done = 0;
    while (done < length) {
      const count = this.#ssl.SSL_write(this.#native, (address + done) as Pointer, length - done);
      if (count > 0) {
        done += count;
        continue;
      }
      const isFull = this.#reason(count) === WANT_WRITE;
      // The client has closed, which OpenSSL before 3.2 says of any broken pipe, or has begun a message of the handshake and not
      // ended it: no wait for room would ever end.
      if (!isFull) this.#state = "failed";
      if (done > 0) return done;
      return isFull ? WANT_WRITE : FAILED;
    }
    return done;
  }

  /**
   * More than 0 when a read has something to tell although the socket is not readable, since it has been taken from there already.
   * Always 0 after a read that answered WANT_READ.
   */
  get pending(): number {
    if (this.#ahead === "maybe bytes") return this.#ssl.SSL_has_pending(this.#native);
    return this.#ahead === "the end" ? 1 : 0;
  }

  /** Whether the last read could not go on before something of TLS itself is sent. */
  get mustSendToRead(): boolean {
    return this.#ahead === "nothing before room to send";
  }

  /** What was agreed on, after the handshake and before `free`. */
  get info(): TlsInfo {
    const name = this.#ssl.SSL_get_servername(this.#native, TLSEXT_NAMETYPE_HOST_NAME);
    const shown = this.#ssl.SSL_get_certificate(this.#native);
    return {
      serverName: name?.toLowerCase() ?? null,
      alpn: this.#alpn(),
      endPointHash: shown === null ? new Uint8Array() : endPointHash(this.#ssl, shown),
    };
  }

  /** Tells the client that nothing more comes, if the kernel takes that now. */
  shutdown(): void {
    if (this.#state !== "open") return;
    this.#ssl.SSL_shutdown(this.#native);
    this.#ssl.ERR_clear_error();
  }

  /** Gives the memory back; the socket stays open. Nothing of this object may be used after. */
  free(): void {
    this.#ssl.SSL_free(this.#native);
    this.#native = null;
    this.#state = "failed";
    this.#ahead = "nothing";
  }

  #alpn(): string | null {
    const address = memory(8);
    const length = memory(4);
    this.#ssl.SSL_get0_alpn_selected(this.#native, address.address, length.address);
    const start = address.view.getBigUint64(0, true);
    if (start === 0n) return null;
    return Buffer.from(toArrayBuffer(start, 0, length.view.getUint32(0, true))).toString("latin1");
  }

  #reason(result: number): number {
    const error = this.#ssl.SSL_get_error(this.#native, result);
    if (error === SSL_ERROR_WANT_READ) return WANT_READ;
    if (error === SSL_ERROR_WANT_WRITE) return WANT_WRITE;
    if (error === SSL_ERROR_ZERO_RETURN) return ENDED;
    this.#state = "failed";
    // What is left in the list would be taken for the fault of the next session.
    this.#ssl.ERR_clear_error();
    return FAILED;
  }
}

/** @param reason why a read gave nothing. */
function aheadAfter(reason: number): "nothing" | "nothing before room to send" | "the end" {
  if (reason === WANT_READ) return "nothing";
  return reason === WANT_WRITE ? "nothing before room to send" : "the end";
}
