// What the greetings of the engines that speak MySQL's protocol differ in.
import { COMPRESS, SSL } from "./capabilities.ts";

/** What an engine says of itself in its greeting. */
export interface EngineTraits {
  /** Version as in the greeting, which clients tell the engine's kind by. */
  greetedVersion: string;
  /** The 32 capability flags, without TLS and compression. */
  capabilities: number;
  /** MariaDB's further capability flags, the bits from 32 on. */
  extendedCapabilities: number;
  /** Id of the collation, as far as it fits into a byte. */
  collation: number;
}

/**
 * Everything that MariaDB 10.6 and newer can do. Compression is left out: what is in it could not be looked at, and commands are
 * looked at for who they would change the user to. The flag CLIENT_MYSQL is not set, which says that further flags follow.
 */
const MARIADB_CAPABILITIES = (0x81ff_f7fe & ~(SSL | COMPRESS)) >>> 0;
/** Progress reports, bulk statements, extended metadata, and cached metadata. */
const MARIADB_EXTENDED = 0x1d;
/** A result for each row of a bulk statement, since 11.5. */
const BULK_UNIT_RESULTS = 0x20;
const UTF8MB4_GENERAL_CI = 45;

/** @param version of the engine, such as `10.11.19`. */
export function traitsOf({ version }: { version: string }): EngineTraits {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  // Old replicas took a 10 for a 1, so MariaDB 10 hides its version behind one that they understand.
  const prefix = major === 10 ? "5.5.5-" : "";
  const hasUnitResults = major > 11 || (major === 11 && minor >= 5);
  return {
    greetedVersion: `${prefix}${version}-MariaDB`,
    capabilities: MARIADB_CAPABILITIES,
    extendedCapabilities: MARIADB_EXTENDED | (hasUnitResults ? BULK_UNIT_RESULTS : 0),
    collation: UTF8MB4_GENERAL_CI,
  };
}
