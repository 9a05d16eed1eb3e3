// TLS of the gateway: server sessions of OpenSSL on sockets that do not block.
export { type Certificates, TlsContext, type TlsOptions } from "./context.ts";
export { TlsSession } from "./session.ts";
export { openSsl } from "./openssl.ts";
