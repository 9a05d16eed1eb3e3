// The capability flags of the MySQL protocol that the gateway has to know.

/** The client names a database in its handshake response. */
export const CONNECT_WITH_DB = 0x0000_0008;
/** After the login every byte goes through the compressed protocol. */
export const COMPRESS = 0x0000_0020;
/** Errors have an SQL state, and the handshake response has the form of version 4.1. */
export const PROTOCOL_41 = 0x0000_0200;
/** The next thing to be spoken is TLS. */
export const SSL = 0x0000_0800;
/** Passwords are proved as version 4.1 has it. */
export const SECURE_CONNECTION = 0x0000_8000;
/** The client names the plugin that its answer is for, and can change to another one. */
export const PLUGIN_AUTH = 0x0008_0000;
/** The client tells attributes of the connection. */
export const CONNECT_ATTRS = 0x0010_0000;
/** The length of the client's answer has the form of a length-encoded integer. */
export const PLUGIN_AUTH_LENENC = 0x0020_0000;
/** No EOF stands behind the descriptions of columns, and an OK in the place of the one behind rows. */
export const DEPRECATE_EOF = 0x0100_0000;
/** As COMPRESS, with zstd. */
export const ZSTD = 0x0400_0000;
