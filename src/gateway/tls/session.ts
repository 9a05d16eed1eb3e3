// One TLS session, as the server, on a connected non-blocking socket.
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
  /** What the next read finds without an event from the kernel. */
  #ahead: "nothing" | "nothing before room to send" | "maybe bytes" | "the end" = "nothing";

  /** @param native an SSL object of OpenSSL; `free` frees it. */
  constructor(ssl: OpenSsl, native: Address) {
    this.#ssl = ssl;
    this.#native = native;
  }

  /** Continues the handshake as far as possible. The caller repeats it until it is done or failed. */
  handshake(): "done" | "want-read" | "want-write" | "failed" {
    if (this.#state !== "handshake") return this.#state === "open" ? "done" : "failed";
    const result = this.#ssl.SSL_do_handshake(this.#native);
    if (result === 1) {
      this.#state = "open";
      // The client's first bytes may have arrived with the end of its handshake.
      this.#ahead = "maybe bytes";
      return "done";
    }
    const reason = this.#reason(result);
    if (reason === WANT_READ) return "want-read";
    return reason === WANT_WRITE ? "want-write" : "failed";
  }

  /**
   * Reads the bytes that have arrived.
   * @param address the memory for the bytes.
   * @param length the most bytes, more than 0; the next read gets the rest.
   * @returns the count of bytes; 0 (`ENDED`) when the client has closed; WANT_READ, WANT_WRITE or FAILED.
   */
  read(address: number, length: number): number {
    if (this.#state !== "open") return FAILED;
    this.#ahead = "maybe bytes";
    let done = 0;
    do {
      // One call reads one record at most, while the client may have sent many small records.
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
   * Sends as much as the kernel takes now.
   *
   * The next call must begin with the unsent bytes, all of them or at least their first 16 KiB, since they may be
   * encrypted already; they may be at another address.
   * @returns the count of sent bytes, more than 0; WANT_WRITE or FAILED.
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
      // The client has closed (OpenSSL before 3.2 reports that for any broken pipe), or it has sent half a message of
      // the handshake: a wait for room would never end.
      if (!isFull) this.#state = "failed";
      if (done > 0) return done;
      return isFull ? WANT_WRITE : FAILED;
    }
    return done;
  }

  /**
   * More than 0 when a read has bytes or the end although the socket is not readable, because OpenSSL has read them
   * from the socket already. Always 0 after a read that returned WANT_READ.
   */
  get pending(): number {
    if (this.#ahead === "maybe bytes") return this.#ssl.SSL_has_pending(this.#native);
    return this.#ahead === "the end" ? 1 : 0;
  }

  /** Whether the last read has to wait until TLS has sent bytes of its own. */
  get mustSendToRead(): boolean {
    return this.#ahead === "nothing before room to send";
  }

  /** The results of the handshake; valid after it and before `free`. */
  get info(): TlsInfo {
    const name = this.#ssl.SSL_get_servername(this.#native, TLSEXT_NAMETYPE_HOST_NAME);
    const shown = this.#ssl.SSL_get_certificate(this.#native);
    return {
      serverName: name?.toLowerCase() ?? null,
      alpn: this.#alpn(),
      endPointHash: shown === null ? new Uint8Array() : endPointHash(this.#ssl, shown),
    };
  }

  /** Sends the end of the session (close_notify), if the kernel takes it now. */
  shutdown(): void {
    if (this.#state !== "open") return;
    this.#ssl.SSL_shutdown(this.#native);
    this.#ssl.ERR_clear_error();
  }

  /** Frees the memory; the socket stays open. The session must not be used afterwards. */
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
    // An error left in the list would be taken for an error of the next session.
    this.#ssl.ERR_clear_error();
    return FAILED;
  }
}

/** @param reason the result of a read without bytes. */
function aheadAfter(reason: number): "nothing" | "nothing before room to send" | "the end" {
  if (reason === WANT_READ) return "nothing";
  return reason === WANT_WRITE ? "nothing before room to send" : "the end";
}
