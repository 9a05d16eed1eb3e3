// The secret of a deploy hook, which is the whole of its credentials.
import { API_ROOT } from "../../../api/operation/address.ts";
import { newPassword, sha256Hex, type Vault } from "../../../lib/secrets.ts";
import type { DeployHook, EnvironmentRow } from "../environments/store.ts";

const SECRET_LENGTH = 40;

/** A new secret of an environment's hook, as its row keeps it. */
export function newHook(vault: Vault, environmentId: string): DeployHook {
  const secret = newPassword(SECRET_LENGTH);
  return { sealed: vault.seal(secret, environmentId), hash: sha256Hex(secret) };
}

/** The path of an environment's hook; null where it has none. */
export function hookPath(vault: Vault, { id, deployHook }: EnvironmentRow): string | null {
  return deployHook === null ? null : `${API_ROOT}/deploy-hooks/${vault.open(deployHook.sealed, id)}`;
}
