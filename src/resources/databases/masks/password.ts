// The password that a clone has until its data is masked, so that nobody sees the data as it was.
import type { Vault } from "../../../lib/secrets.ts";

/** Nobody but this key file can make it. */
export function maskPassword(id: string, vault: Vault): string {
  return vault.derivePassword(`mask of ${id}`);
}
