// The functions of OpenSSL 3 that the gateway needs, from the machine's library. Bun's TLS works only on Bun's sockets.
import { dlopen, FFIType, ptr, type Pointer } from "bun:ffi";
import { dirname, join } from "node:path";

const { i32, i64, u64_fast: size, ptr: pointer } = FFIType;

const LIBSSL_FUNCTIONS = {
  TLS_server_method: { args: [], returns: pointer },
  SSL_CTX_new: { args: [pointer], returns: pointer },
  SSL_CTX_free: { args: [pointer], returns: FFIType.void },
  SSL_CTX_ctrl: { args: [pointer, i32, i64, pointer], returns: i64 },
  SSL_CTX_set_options: { args: [pointer, size], returns: size },
  SSL_CTX_set_default_read_buffer_len: { args: [pointer, size], returns: FFIType.void },
  SSL_CTX_set_alpn_select_cb: { args: [pointer, pointer, pointer], returns: FFIType.void },
  SSL_CTX_callback_ctrl: { args: [pointer, i32, pointer], returns: i64 },
  SSL_CTX_use_certificate: { args: [pointer, pointer], returns: i32 },
  SSL_CTX_use_PrivateKey: { args: [pointer, pointer], returns: i32 },
  SSL_CTX_check_private_key: { args: [pointer], returns: i32 },
  SSL_new: { args: [pointer], returns: pointer },
  SSL_free: { args: [pointer], returns: FFIType.void },
  SSL_set_SSL_CTX: { args: [pointer, pointer], returns: pointer },
  SSL_get_certificate: { args: [pointer], returns: pointer },
  SSL_set_fd: { args: [pointer, i32], returns: i32 },
  SSL_set_accept_state: { args: [pointer], returns: FFIType.void },
  SSL_do_handshake: { args: [pointer], returns: i32 },
  SSL_read: { args: [pointer, pointer, i32], returns: i32 },
  SSL_write: { args: [pointer, pointer, i32], returns: i32 },
  SSL_has_pending: { args: [pointer], returns: i32 },
  SSL_shutdown: { args: [pointer], returns: i32 },
  SSL_get_error: { args: [pointer, i32], returns: i32 },
  SSL_get_servername: { args: [pointer, i32], returns: FFIType.cstring },
  SSL_get0_alpn_selected: { args: [pointer, pointer, pointer], returns: FFIType.void },
} as const;

const LIBCRYPTO_FUNCTIONS = {
  ERR_clear_error: { args: [], returns: FFIType.void },
  ERR_peek_error: { args: [], returns: size },
  ERR_reason_error_string: { args: [size], returns: FFIType.cstring },
  BIO_new_mem_buf: { args: [pointer, i32], returns: pointer },
  BIO_free: { args: [pointer], returns: i32 },
  PEM_read_bio_X509: { args: [pointer, pointer, pointer, pointer], returns: pointer },
  PEM_read_bio_PrivateKey: { args: [pointer, pointer, pointer, pointer], returns: pointer },
  EVP_PKEY_free: { args: [pointer], returns: FFIType.void },
  OBJ_nid2sn: { args: [i32], returns: pointer },
  EVP_get_digestbyname: { args: [pointer], returns: pointer },
  X509_free: { args: [pointer], returns: FFIType.void },
  X509_get_signature_info: { args: [pointer, pointer, pointer, pointer, pointer], returns: i32 },
  X509_digest: { args: [pointer, pointer, pointer, pointer], returns: i32 },
} as const;

/** An address in C's memory. Bun represents an address beyond 2^53 as a bigint. */
export type Address = Pointer | bigint;

/** The functions of libssl and libcrypto, which must have the same version. */
export type OpenSsl = ReturnType<typeof open>;

const opened = new Map<string, OpenSsl>();

/**
 * Loads the library once for the life of the process.
 * @param library the name of libssl for the system's loader, or a path, with its libcrypto in the same folder.
 * @throws Error when the library cannot be loaded.
 */
export function openSsl(library: string): OpenSsl {
  const known = opened.get(library);
  if (known !== undefined) return known;
  const loaded = open(library);
  opened.set(library, loaded);
  return loaded;
}

function open(library: string) {
  // Loaded before libssl, so that libssl is bound to this libcrypto, wherever it lies.
  const crypto = library.includes("/") ? join(dirname(library), "libcrypto.so.3") : "libcrypto.so.3";
  const { symbols: cryptoSymbols } = dlopen(crypto, LIBCRYPTO_FUNCTIONS);
  const { symbols: sslSymbols } = dlopen(library, LIBSSL_FUNCTIONS);
  return { ...cryptoSymbols, ...sslSymbols };
}

/** Memory for C to write to. It has a buffer of its own from the start, so that it never moves. */
export function memory(bytes: number): { view: DataView; address: Address } {
  const buffer = new ArrayBuffer(bytes);
  return { view: new DataView(buffer), address: ptr(buffer) };
}
