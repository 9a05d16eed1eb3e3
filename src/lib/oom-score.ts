// The order in which the kernel ends processes when the machine has no memory left: engines of customers first, Pilvi
// last.
import { writeFileSync } from "node:fs";
import { codeOf } from "./errors.ts";

/**
 * The score of processes that serve customers. It is the same for the session of a Postgres as for a whole cache, so
 * that the largest goes first, and above the score of other programs on the machine.
 */
export const CUSTOMER_OOM_SCORE = 500;

/**
 * The score of processes by whose end nobody loses data, such as a look at a copy, or the git of a push, which is pushed
 * again: they go before all others.
 */
export const THROW_AWAY_OOM_SCORE = 1000;

/** The score of Pilvi's own processes and of its store: no customer is served without them. */
export const OWN_OOM_SCORE = -500;

/**
 * Sets what the kernel adds to a process's share of the machine's memory, in thousandths of that memory. Every user may
 * raise it, only root may lower it. A process that may not be changed, or has ended, is left as it is.
 */
export function setOomScore(pid: number | "self", score: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(score));
  } catch (error) {
    if (!["EACCES", "EPERM", "ENOENT", "ESRCH", "EROFS"].includes(codeOf(error) ?? "")) throw error;
  }
}

/** Has the kernel end this process and its children later than others, where this user may ask for that. */
export function protectFromOom(): void {
  setOomScore("self", OWN_OOM_SCORE);
}
