// The differences between the greetings of engines that speak MySQL's protocol.
import { COMPRESS, SSL } from "./capabilities.ts";

/** An engine's description of itself in its greeting. */
export interface EngineTraits {
  /** The version in the greeting, from which clients infer the kind of engine. */
  greetedVersion: string;
  /** The 32 capability flags, without TLS and compression. */
  capabilities: number;
  /** MariaDB's extended capability flags, the bits from 32 on. */
  extendedCapabilities: number;
  /** The lowest byte of the collation's id. */
  collation: number;
  /** Whether the OK of a login proves the certificate to clients with TLS. */
  provesCertificate: boolean;
}

/**
 * All capabilities of MariaDB 10.6 and newer except compression: the framer has to read the commands, such as
 * COM_CHANGE_USER. The missing flag CLIENT_MYSQL says that extended flags follow.
 */
const MARIADB_CAPABILITIES = (0x81ff_f7fe & ~(SSL | COMPRESS)) >>> 0;
/** Progress reports, bulk statements, extended metadata, and cached metadata. */
const MARIADB_EXTENDED = 0x1d;
/** A result for each row of a bulk statement, since MariaDB 11.5. */
const BULK_UNIT_RESULTS = 0x20;
const UTF8MB4_GENERAL_CI = 45;

/** @param version the engine's version, such as `10.11.19`. */
export function traitsOf({ version }: { version: string }): EngineTraits {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  // Old replicas read a 10 as a 1, so MariaDB 10 puts a version before its own that they understand.
  const prefix = major === 10 ? "5.5.5-" : "";
  const hasUnitResults = major > 11 || (major === 11 && minor >= 5);
  return {
    greetedVersion: `${prefix}${version}-MariaDB`,
    capabilities: MARIADB_CAPABILITIES,
    extendedCapabilities: MARIADB_EXTENDED | (hasUnitResults ? BULK_UNIT_RESULTS : 0),
    collation: UTF8MB4_GENERAL_CI,
    provesCertificate: major > 11 || (major === 11 && minor >= 4),
  };
}
