// TLS of the gateway: server sessions of OpenSSL on sockets that do not block.
export { TlsContext, type TlsOptions } from "./context.ts";
export { FAILED, TlsSession, WANT_READ, WANT_WRITE } from "./session.ts";
export { openSsl } from "./openssl.ts";
