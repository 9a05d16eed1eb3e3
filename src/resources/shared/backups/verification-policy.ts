// When a restore of an archive is verified, and of which state: decided from the archive and its latest verification.
import type { ArchiveState, RestoreTarget } from "../../../contracts/keeper.ts";
import type { Verification } from "../../kind.ts";
import { isChangedSince } from "./policy.ts";

/** A state in which nothing has changed since it was verified is verified so many times less often. */
const UNCHANGED_FACTOR = 7;

/** The longest pause before the first verification of an archive, and after an attempt without a result. */
const HOUR_MS = 3_600_000;

/** How long to wait before the first verification, and after an attempt without a result. */
export function shortPauseMs(intervalMs: number): number {
  return Math.min(intervalMs, HOUR_MS);
}

/** What decides what is verified. */
export interface VerificationChoice {
  state: ArchiveState | undefined;
  /** The latest; null before the first. */
  latest: Verification | null;
  intervalMs: number;
  nowMs: number;
  /** A random number from 0 to 1, without 1. */
  random(): number;
}

/**
 * What to verify: the newest backup at first and after a fault, and else as often a random instant of the window. Null
 * when nothing is new.
 */
export function verificationTarget(choice: VerificationChoice): RestoreTarget | null {
  const { state, latest, random } = choice;
  const newest = state?.backups.at(-1);
  if (state === undefined || newest === undefined || !isWorthwhile(choice)) return null;
  const instant = latest === null || latest.faults.length > 0 ? null : randomInstant(state, random);
  return instant !== null && random() < 0.5 ? { at: instant } : { backup: newest.id };
}

function isWorthwhile({ state, latest, intervalMs, nowMs }: VerificationChoice): boolean {
  const newest = state?.backups.at(-1);
  if (latest === null || newest === undefined || state === undefined) return true;
  const isSame = latest.backup === newest.id && !isChangedSince(newest, state);
  return !isSame || nowMs - Date.parse(latest.endedAt) >= UNCHANGED_FACTOR * intervalMs;
}

/** An instant of the window; null without a window, or while it has gaps, which are reported as such. */
function randomInstant({ log }: ArchiveState, random: () => number): string | null {
  const earliest = log?.earliestRestoreTime ?? null;
  if (log === null || earliest === null || log.gaps.length > 0) return null;
  // Instants have microseconds, and numbers here milliseconds.
  const firstMs = Date.parse(earliest) + 1;
  const spanMs = Date.parse(log.watermark.at) - 1 - firstMs;
  return spanMs <= 0 ? null : new Date(firstMs + Math.floor(random() * spanMs)).toISOString();
}
