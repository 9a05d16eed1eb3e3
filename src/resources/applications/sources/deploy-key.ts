// The deploy key of an application: an own key pair for a repository behind SSH.
import { invalid } from "../../../api/jsonapi/errors.ts";
import type { Vault } from "../../../lib/secrets.ts";
import { repositoryAddress } from "../../../sources/address.ts";
import { newKeyPair } from "../../../sources/deploy-key.ts";
import { SourceRefusal } from "../../../sources/faults.ts";
import type { ApplicationRow, DeployKey, Repository } from "../store.ts";

/** @throws ApiError 422 when nothing can be fetched from such an address. */
export function checkRepository(url: string): void {
  try {
    repositoryAddress(url);
  } catch (error) {
    if (!(error instanceof SourceRefusal)) throw error;
    throw invalid({ repository: [error.message] });
  }
}

/** The key of an application with this repository: the former where there is one, and null where SSH is not used. */
export function deployKeyFor(
  vault: Vault,
  id: string,
  repository: Repository | null,
  former: DeployKey | null,
): DeployKey | null {
  return needsDeployKey(repository) ? (former ?? newDeployKey(vault, id)) : null;
}

/** The private key that a fetch uses; null for an application without a deploy key. */
export function privateKeyOf(
  vault: Vault,
  { id, deployKey }: Pick<ApplicationRow, "id" | "deployKey">,
): string | null {
  return deployKey === null ? null : vault.open(deployKey.sealed, id);
}

/** A new key pair of an application, as its row keeps it. */
export function newDeployKey(vault: Vault, id: string): DeployKey {
  const { publicKey, privateKey } = newKeyPair(`pilvi-${id}`);
  return { publicKey, sealed: vault.seal(privateKey, id) };
}

/** Whether commits of the repository are fetched over SSH. */
export function needsDeployKey(repository: Repository | null): boolean {
  return repository !== null && /^(?:ssh:|[\w.-]+@)/i.test(repository.url);
}
