// The secret from which a Postgres makes the salts of users that it does not know. It is in the control file of the data
// and lasts as long as the data.
import { controlFileBytes } from "./control-file.ts";

/** `mock_authentication_nonce` in struct ControlFileData, by `pg_control_version`: 14 to 16, 17, 18. */
const PLACES: Record<number, number> = { 1300: 256, 1700: 256, 1800: 257 };
const VERSION_AT = 8;
const NONCE_BYTES = 32;

/** @returns hexadecimal digits; null for a version without a known place, and while there is no data. */
export function mockNonceOf(dataDir: string): string | null {
  const control = controlFileBytes(dataDir);
  const at = control === null ? undefined : PLACES[control.readUInt32LE(VERSION_AT)];
  return at === undefined ? null : (control?.toString("hex", at, at + NONCE_BYTES) ?? null);
}
