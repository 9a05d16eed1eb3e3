// TLS of the gateway: OpenSSL's server sessions on non-blocking sockets.
export { type Certificates, TlsContext, type TlsOptions } from "./context.ts";
export { TlsSession } from "./session.ts";
export { openSsl } from "./openssl.ts";
