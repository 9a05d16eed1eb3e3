// Keeps the events of instances until the control plane has taken them, across kills of the host.
import { closeSync, fsync, openSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { MAX_REASON_LENGTH, type JournalRecord, type OpenRun } from "../../contracts/journal.ts";
import { codeOf } from "../../lib/errors.ts";
import { replaceOpenFile } from "../../lib/files.ts";
import type { Log } from "../../lib/log.ts";
import { presentableSentence } from "../../lib/presentable.ts";
import { followSleep, readContent } from "./journal-file.ts";

/** The most records of one instance that wait for the control plane. Later records of that instance are lost. */
export const MAX_WAITING = 200;
/** The size at which the file is rewritten without the taken records. */
const COMPACT_BYTES = 256 * 1_024;
/** The number of records in one answer. */
const BATCH = 500;
const ALIVE_INTERVAL_MS = 1_000;

type Details = JournalRecord["details"];

/** Gets each record as it is made. */
export type OnRecord = (id: string, type: JournalRecord["type"], details: Details) => void;

export class Journal {
  readonly #onRecord: OnRecord | undefined;
  readonly #path: string;
  readonly #log: Log;
  readonly #open: Map<string, OpenRun>;
  readonly #awake: Map<string, boolean>;
  #waiting: JournalRecord[];
  #counts = new Map<string, number>();
  #sequence: number;
  #fd: number;
  #bytes = 0;
  /** Whether a full disk may have taken a part of the latest line. */
  #isTorn = false;
  #taken = 0;
  #isSyncing = false;
  #isClosed = false;
  #listeners = new Set<() => void>();
  readonly #aliveTimer: ReturnType<typeof setInterval>;
  /** The time at which a former host certainly still lived, ISO 8601; null without a former host. */
  readonly formerAliveAt: string | null;

  /** @param path the file; the records of an earlier host are taken up. */
  constructor(path: string, log: Log, onRecord?: OnRecord) {
    this.#onRecord = onRecord;
    this.#path = path;
    this.#log = log;
    const content = readContent(path, log);
    this.#open = content.open;
    this.#awake = content.awake;
    this.#waiting = content.waiting;
    // A power cut may have lost the latest records. Their sequences must never be used again.
    this.#sequence = Math.max(content.sequence, Date.now() * 1_000);
    this.formerAliveAt = aliveAt(path);
    for (const { id } of this.#waiting) this.#count(id, 1);
    this.#fd = this.#begun();
    this.#beAlive();
    this.#aliveTimer = setInterval(() => this.#beAlive(), ALIVE_INTERVAL_MS);
    this.#aliveTimer.unref();
  }

  /** The process of an instance whose end has not been recorded. */
  openRun(id: string): OpenRun | undefined {
    return this.#open.get(id);
  }

  /**
   * Whether the records say that an instance is awake. False when it was started since it fell asleep, or for the first
   * time, and no record says that it was woken; undefined while it sleeps by the records, and without any.
   */
  isAwake(id: string): boolean | undefined {
    return this.#awake.get(id);
  }

  /** Forgets the state of an instance that is gone. Its records stay. */
  forget(id: string): void {
    this.#awake.delete(id);
  }

  /** Forgets the state of all other instances: the file still has records of some that are gone. */
  keepOnly(ids: readonly string[]): void {
    const kept = new Set(ids);
    for (const id of this.#awake.keys()) if (!kept.has(id)) this.#awake.delete(id);
  }

  /**
   * Adds a record. It survives a kill of this process at once, and a power cut after a moment. Never throws: a full
   * disk costs the record, and no instance.
   */
  append(id: string, type: JournalRecord["type"], details: Details = {}, at = new Date()): void {
    if (this.#isClosed) return;
    this.#onRecord?.(id, type, details);
    this.#follow(id, type, details, at);
    const waiting = this.#counts.get(id) ?? 0;
    if (waiting >= MAX_WAITING) return this.#lose(id);
    const isLast = waiting === MAX_WAITING - 1;
    this.#write({
      sequence: this.#next(),
      id,
      at: at.toISOString(),
      ...(isLast ? { type: "gap", details: { lost: 1 } } : { type, details: shortened(details) }),
    });
  }

  /** The records after a sequence, the oldest first. Records up to that sequence are taken and may be deleted. */
  after(sequence: number): JournalRecord[] {
    // The control plane may have records that a power cut took from this disk.
    this.#sequence = Math.max(this.#sequence, sequence);
    this.#acknowledge(sequence);
    return this.#waiting.slice(0, BATCH);
  }

  /** Resolves when there is a record to take, or when the signal is aborted. */
  async untilSome(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length > 0 || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const listener = () => resolve();
    this.#listeners.add(listener);
    signal.addEventListener("abort", listener);
    await promise;
    this.#listeners.delete(listener);
    signal.removeEventListener("abort", listener);
  }

  /** Ends the writing for good. */
  close(): void {
    if (this.#isClosed) return;
    clearInterval(this.#aliveTimer);
    this.#beAlive();
    this.#isClosed = true;
    closeSync(this.#fd);
  }

  #next(): number {
    return (this.#sequence += 1);
  }

  #follow(id: string, type: JournalRecord["type"], { pid }: Details, at: Date): void {
    if ((type === "started" || type === "restarted") && pid !== undefined) {
      this.#open.set(id, { pid, at: at.toISOString() });
    }
    if (type === "stopped" || type === "crashed") this.#open.delete(id);
    followSleep(this.#awake, id, type);
  }

  /** Counts a lost record in the gap, which is the last kept record of the instance. */
  #lose(id: string): void {
    const gap = this.#waiting.findLast((record) => record.id === id);
    if (gap?.type === "gap") gap.details.lost = (gap.details.lost ?? 0) + 1;
  }

  #write(record: JournalRecord): void {
    this.#waiting.push(record);
    this.#count(record.id, 1);
    try {
      const line = `${this.#isTorn ? "\n" : ""}${JSON.stringify(record)}\n`;
      writeFileSync(this.#fd, line);
      this.#isTorn = false;
      this.#bytes += line.length;
      this.#sync();
    } catch (error) {
      this.#isTorn = true;
      this.#log.warn({ error }, "the journal could not be written");
    }
    for (const listener of this.#listeners) listener();
  }

  #acknowledge(sequence: number): void {
    if (sequence <= this.#taken) return;
    this.#taken = sequence;
    for (const { id, sequence: own } of this.#waiting) if (own <= sequence) this.#count(id, -1);
    this.#waiting = this.#waiting.filter(({ sequence: own }) => own > sequence);
    if (this.#bytes < COMPACT_BYTES) return;
    try {
      const former = this.#fd;
      this.#fd = this.#compact();
      closeSync(former);
    } catch (error) {
      this.#log.warn({ error }, "the journal could not be written");
    }
  }

  #count(id: string, difference: number): void {
    const count = (this.#counts.get(id) ?? 0) + difference;
    if (count === 0) this.#counts.delete(id);
    else this.#counts.set(id, count);
  }

  /** Begins with a rewritten file, or on a full disk with the former, so that the host starts on it as well. */
  #begun(): number {
    try {
      return this.#compact();
    } catch (error) {
      this.#log.warn({ error }, "the journal could not be written");
      this.#isTorn = true;
      // It is rewritten as soon as its records are taken.
      this.#bytes = COMPACT_BYTES;
      return openSync(this.#path, "a", 0o600);
    }
  }

  /** Rewrites the file in one step. @returns its descriptor, open for appending. @throws when nothing has changed. */
  #compact(): number {
    const [open, awake] = [Object.fromEntries(this.#open), Object.fromEntries(this.#awake)];
    const head = { version: 1, sequence: this.#sequence, open, awake };
    const text = [head, ...this.#waiting].map((line) => `${JSON.stringify(line)}\n`).join("");
    const fd = replaceOpenFile(this.#path, text, 0o600);
    this.#bytes = 0;
    this.#isTorn = false;
    return fd;
  }

  /** Syncs in the background. The next sync covers records that are written during this one. */
  #sync(): void {
    if (this.#isSyncing) return;
    this.#isSyncing = true;
    fsync(this.#fd, () => {
      this.#isSyncing = false;
    });
  }

  #beAlive(): void {
    try {
      writeFileSync(alivePath(this.#path), "", { mode: 0o600 });
      const now = new Date();
      utimesSync(alivePath(this.#path), now, now);
    } catch (error) {
      this.#log.warn({ error }, "the journal could not be written");
    }
  }
}

/** With a reason that leaves room for its ellipsis. */
function shortened({ reason, ...details }: Details): Details {
  if (reason === undefined) return details;
  return { ...details, reason: presentableSentence(reason, MAX_REASON_LENGTH - 1) };
}

function alivePath(path: string): string {
  return `${path}.alive`;
}

function aliveAt(path: string): string | null {
  try {
    return statSync(alivePath(path)).mtime.toISOString();
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return null;
  }
}
