// The uploads of which a deployment began: a process that ends between the two leaves an upload without an answer.
import type { StoredUpload } from "../../../sources/uploads.ts";
import type { Queryable } from "../../../store/database.ts";
import { deployedCommits } from "../deployments/store.ts";

/** Those of the uploads to environments that their deployments name, in the same order. */
export async function deployedUploads(
  db: Queryable,
  uploads: readonly StoredUpload[],
): Promise<StoredUpload[]> {
  if (uploads.length === 0) return [];
  const places = uploads.map(({ folder, hash }) => ({ environmentId: folder, hash }));
  const deployed = await deployedCommits(db, places);
  const names = new Set(deployed.map(({ environmentId, hash }) => `${environmentId} ${hash}`));
  return uploads.filter(({ folder, hash }) => names.has(`${folder} ${hash}`));
}
