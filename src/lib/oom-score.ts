// Whom the kernel ends first when the machine itself has no memory left: engines of customers, and Pilvi last.
import { writeFileSync } from "node:fs";
import { codeOf } from "./errors.ts";

/**
 * What serves customers. It is the same for the session of a Postgres as for a whole cache, so that among them the largest goes first,
 * and more than what else runs on the machine has.
 */
export const CUSTOMER_OOM_SCORE = 500;

/** Pilvi's own processes, and its store: nobody is served without them. */
export const OWN_OOM_SCORE = -500;

/**
 * Sets what the kernel adds to the share of the machine's memory that a process takes, in thousandths of that memory.
 * Raising it is anybody's right, lowering it needs root; what may not be set, or has ended, is left as it is.
 */
export function setOomScore(pid: number | "self", score: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(score));
  } catch (error) {
    if (!["EACCES", "EPERM", "ENOENT", "ESRCH", "EROFS"].includes(codeOf(error) ?? "")) throw error;
  }
}

/** Has the kernel end this process, and what it starts, later than others, where this user may ask for that. */
export function protectFromOom(): void {
  setOomScore("self", OWN_OOM_SCORE);
}
