// Reports what pushes changed: at the end of each, or later where that was not done.
import { failpoint } from "../lib/failpoint.ts";
import { PushRecord } from "./push-records.ts";
import type { BranchTip } from "./refs.ts";
import type { Repository } from "./repository.ts";

/** What a push changed. */
export interface PushedBranch extends BranchTip {
  /** The tip before the push; null for a new branch. */
  before: string | null;
}

/**
 * Reports the branches that a push changed, by what is there now: git's own report may say more than it did.
 * @param report gets the branches, unless there are none, and a function that has them reported again later.
 * @param followed the names of branches that are reported however many there are.
 * @returns the result of `report`; null when nothing was changed.
 */
export async function reportPush<T>(
  repository: Repository,
  record: PushRecord,
  report: (branches: PushedBranch[], again: () => void) => Promise<T>,
  followed: readonly string[],
): Promise<T | null> {
  let [isReported, changed] = [false, [] as PushedBranch[]];
  try {
    changed = await changedSince(repository, record, followed);
    isReported = true;
    const result = changed.length > 0 ? await report(changed, () => (isReported = false)) : null;
    await failpoint("push.reported");
    return result;
  } catch (error) {
    isReported = false;
    throw error;
  } finally {
    if (isReported) record.end();
    else {
      repository.reportedTips.forget(changed);
      record.leave();
    }
  }
}

/**
 * Reports the pushes of which nobody knows whether they were reported, since this process or an earlier one ended first,
 * and removes the locks that those left.
 * @param report gets the branches of each push, and the UUID that says when it began.
 * @param followed reads the names of branches that are reported however many there are.
 * @returns false while pushes go on that may be left.
 */
export async function reportLeftPushes(
  repository: Repository,
  report: (branches: PushedBranch[], since: string) => Promise<void>,
  followed: () => Promise<readonly string[]>,
): Promise<boolean> {
  let isDone = true;
  const names = await PushRecord.names(repository.path);
  // Read before any record is taken: what fails in between would keep the record locked.
  const also = names.length === 0 ? [] : await followed();
  for (const name of names) {
    const record = PushRecord.take(repository.path, name);
    if (record === "busy") isDone = false;
    if (record === "busy" || record === "none") continue;
    await repository.pushes.removeLocks();
    await reportPush(repository, record, async (branches) => await report(branches, record.since), also);
  }
  return isDone;
}

async function changedSince(
  repository: Repository,
  { before }: PushRecord,
  followed: readonly string[],
): Promise<PushedBranch[]> {
  const tips = new Map(before.map(({ name, hash }) => [name, hash]));
  const now = await repository.branches(followed);
  repository.reportedTips.keepOnly(now);
  return (
    now
      .map(({ name, hash }) => ({ name, hash, before: tips.get(name) ?? null }))
      // A push at the same time may have reported a branch already.
      .filter((branch) => branch.hash !== branch.before && repository.reportedTips.note(branch))
  );
}
