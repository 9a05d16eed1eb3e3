// Notes at a push which uploads it comes after: a later push can bring the branch back to where it was at an upload.
import type { PushedBranch } from "../../../sources/push-reports.ts";
import type { Repository } from "../../../sources/repository.ts";
import { passed } from "../../../sources/uploads.ts";
import type { EnvironmentRow } from "../environments/store.ts";

/**
 * Notes the uploads to the environments of pushed branches as passed; it may be repeated. While something else writes in
 * the repository, this is done at its end, and not waited for.
 */
export async function passUploads(
  repository: Repository,
  branches: readonly PushedBranch[],
  environments: readonly Pick<EnvironmentRow, "id" | "branch">[],
): Promise<void> {
  const tips = new Map(branches.map(({ name, before }) => [name, before]));
  const formerTips = new Map(environments.map(({ id, branch }) => [id, tips.get(branch) ?? null]));
  const uploads = await repository.uploads();
  const former = uploads.filter(({ folder, base }) => base !== null && base === formerTips.get(folder));
  // Where it fails at that end, a later push may make an upload the newest again.
  await repository.changeUploadsUnawaited(former.map(passed));
}
