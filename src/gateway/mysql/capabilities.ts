// The capability flags of the MySQL protocol that matter to the gateway.

/** The client names a database in its handshake response. */
export const CONNECT_WITH_DB = 0x0000_0008;
/** After the login the connection uses the compressed protocol. */
export const COMPRESS = 0x0000_0020;
/** Errors have an SQL state, and the handshake response has the form of version 4.1. */
export const PROTOCOL_41 = 0x0000_0200;
/** The client starts TLS next. */
export const SSL = 0x0000_0800;
/** Password proofs have the form of version 4.1. */
export const SECURE_CONNECTION = 0x0000_8000;
/** The client names the plugin of its proof, and can switch to another plugin. */
export const PLUGIN_AUTH = 0x0008_0000;
/** The client sends attributes of the connection. */
export const CONNECT_ATTRS = 0x0010_0000;
/** The length of the client's proof is a length-encoded integer. */
export const PLUGIN_AUTH_LENENC = 0x0020_0000;
/** No EOF follows column definitions, and an OK replaces the EOF after rows. */
export const DEPRECATE_EOF = 0x0100_0000;
/** The compressed protocol with zstd. */
export const ZSTD = 0x0400_0000;
