// The file of an engine's log. The engine appends to it over all its starts, and the host frees the space of its
// beginning, so that a byte offset stays the position of a line for as long as the file exists.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { codeOf } from "../../lib/errors.ts";
import { openUnleased } from "../../lib/leases.ts";
import { punchHole } from "../../lib/libc.ts";

/** The end of a log that is kept. */
export const KEPT_BYTES = 16 * 1024 ** 2;

/** The first bytes are never freed, since they hold the identity of the file. */
export const HEAD_BYTES = 4096;

/** Bytes beyond those kept, before any are freed. */
const SLACK_BYTES = 4 * 1024 ** 2;

/** How many bytes are freed before other work of the host gets its turn. */
const FREED_AT_ONCE = 64 * 1024 ** 2;

/** The unit of `stat`, whatever the file system's own block size is. */
const BLOCK_BYTES = 512;

/** A file system bounds the offsets of a file. A log that comes near that is begun anew at a start. */
const MAX_OFFSET = 1024 ** 4;

const IDENTITY = /^# pilvi log ([0-9a-f]{12})\n/;
const IDENTITY_BYTES = 64;

/** The identity of a file without its first line, such as a log of an earlier release. */
const NO_IDENTITY = "0";

/** How the host marks the beginning of a start in the log. */
export const START_MARK = "# pilvi ";

/** The log that is open for an engine. */
interface OpenLog {
  fd: number;
  /** The offset at which the output of this start begins. */
  startsAt: number;
}

/**
 * Opens the log for a start of the engine, and makes it if it is missing.
 * @param note describes the start.
 * @throws while a process that an earlier start has left keeps the log to itself.
 */
export function openLog(path: string, note: string): OpenLog {
  // An earlier release kept the log of the start before beside the log.
  rmSync(`${path}.1`, { force: true });
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_OFFSET) rmSync(path);
  const fd = openUnleased(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600);
  if (fd === null) throw new Error(`a process has a lease on ${path}`);
  try {
    const { size } = fstatSync(fd);
    const lead = size === 0 ? identityLine() : endsInLine(path, size) ? "" : "\n";
    writeSync(fd, `${lead}${START_MARK}${new Date().toISOString()} ${note}\n`);
    return { fd, startsAt: size };
  } catch (error) {
    // A full disk must not keep an engine from its start.
    if (codeOf(error) === "ENOSPC") return { fd, startsAt: fstatSync(fd).size };
    closeSync(fd);
    throw error;
  }
}

/** The identity of an open log. */
export function identityOf(fd: number): string {
  const head = Buffer.alloc(IDENTITY_BYTES);
  const length = readSync(fd, head, 0, head.length, 0);
  return IDENTITY.exec(head.toString("latin1", 0, length))?.[1] ?? NO_IDENTITY;
}

/**
 * Frees the beginning of a log that has grown beyond what is kept. A log that a process has a lease on has its next turn.
 * @param canPunch whether the file system can free a part of a file; false for tests.
 */
export async function boundLog(path: string, canPunch = true): Promise<void> {
  const { size, blocks } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0, blocks: 0 };
  const usedBytes = blocks * BLOCK_BYTES;
  if (usedBytes <= KEPT_BYTES + SLACK_BYTES) return;
  const end = size - KEPT_BYTES - ((size - KEPT_BYTES) % HEAD_BYTES);
  // Everything before was freed earlier.
  const start = Math.max(HEAD_BYTES, end - usedBytes - SLACK_BYTES);
  const fd = openUnleased(path, constants.O_RDWR);
  if (fd === null) return;
  try {
    // Blocks beyond the end, which a program can reserve, are freed by cutting the file where it ends.
    if (usedBytes > size + SLACK_BYTES) ftruncateSync(fd, fstatSync(fd).size);
    for (let at = start - (start % HEAD_BYTES); at < end; at += FREED_AT_ONCE) {
      const isFreed = canPunch && punchHole(fd, at, Math.min(FREED_AT_ONCE, end - at));
      if (!isFreed) return beginAnew(path);
      await Bun.sleep(1);
    }
    // A program that stretches its file leaves bytes between holes, where nothing was freed.
    const after = fstatSync(fd);
    const ofBefore = after.blocks * BLOCK_BYTES - (after.size - size);
    if (ofBefore > KEPT_BYTES + SLACK_BYTES) beginAnew(path);
  } finally {
    closeSync(fd);
  }
}

/** Where a part of a file cannot be freed, all lines so far are lost. */
function beginAnew(path: string): void {
  truncateSync(path);
  const fd = openSync(path, "a");
  writeSync(fd, identityLine());
  closeSync(fd);
}

function identityLine(): string {
  return `# pilvi log ${randomBytes(6).toString("hex")}\n`;
}

function endsInLine(path: string, size: number): boolean {
  const fd = openSync(path, "r");
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  closeSync(fd);
  return last[0] === 0x0a;
}
