// What git is started behind: programs that bound its memory and its files, and have it end before others.
import { existsSync } from "node:fs";
import { THROW_AWAY_OOM_SCORE } from "../lib/oom-score.ts";

const PRLIMIT = "/usr/bin/prlimit";

/** Gives git its score before it begins: a process that has given up root may not change a child that just starts. */
const CHOOM = ["/usr/bin/choom", "-n", String(THROW_AWAY_OOM_SCORE), "--"];
/** Whether that works: the kernel may keep scores from being written, as where `/proc` is read-only. */
let canChoom: boolean | undefined;

/** A delta can ask for any amount of memory; honest repositories need far less. */
const MAX_MEMORY_BYTES = 3 * 2 ** 30;

/** The arguments before the path of git, as far as this machine has the programs. @param maxFileBytes of each file that it writes. */
export function limitPrefix({ maxFileBytes }: { maxFileBytes?: number }): string[] {
  canChoom ??= doesRun([...CHOOM, "/usr/bin/true"]);
  const score = canChoom ? CHOOM : [];
  if (!existsSync(PRLIMIT)) return score;
  const fileSize = maxFileBytes === undefined ? [] : [`--fsize=${maxFileBytes}`];
  return [...score, PRLIMIT, "--core=0", `--as=${MAX_MEMORY_BYTES}`, ...fileSize];
}

function doesRun(argv: string[]): boolean {
  return existsSync(argv[0] ?? "") && Bun.spawnSync(argv).exitCode === 0;
}
