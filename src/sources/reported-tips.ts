// The tips of branches that were made and reported, so that of two pushes at the same time only the first reports a tip.
import { refOf } from "./names.ts";
import type { BranchTip } from "./refs.ts";

export class ReportedTips {
  readonly #hashes = new Map<string, string>();

  /** Notes the tip of a branch after a push. @returns false when another push has reported the same tip. */
  note({ name, hash }: BranchTip): boolean {
    const ref = refOf(name);
    if (this.#hashes.get(ref) === hash) return false;
    this.#hashes.set(ref, hash);
    return true;
  }

  /** Forgets tips whose report has failed. */
  forget(branches: readonly BranchTip[]): void {
    for (const { name, hash } of branches)
      if (this.#hashes.get(refOf(name)) === hash) this.#hashes.delete(refOf(name));
  }

  /** Forgets all branches but the present: a branch that is made anew is reported again. */
  keepOnly(present: readonly BranchTip[]): void {
    const refs = new Set(present.map(({ name }) => refOf(name)));
    for (const ref of this.#hashes.keys()) if (!refs.has(ref)) this.#hashes.delete(ref);
  }
}
