// The file that keeps undelivered batches, so that a restart does not lose them.
import { appendFileSync, closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { replaceFile } from "../../lib/files.ts";
import type { Log } from "../../lib/line-log.ts";
import type { Batch } from "./batch.ts";

const FILE_MODE = 0o600;
/** How much of the file may be obsolete before it is written anew. */
const MAX_WASTE_BYTES = 1024 * 1024;

type Line =
  | { add: number; webhook: string; body: string; events: number; failingSinceMs: number | null }
  | { failing: number; sinceMs: number }
  | { done: number };

/**
 * An append-only log; emptied whenever no batch waits, which is nearly always, and written anew when most of it is
 * obsolete. A batch is in it before its first attempt. Nothing waits for the disk: a kill of the process loses no batch
 * that was added, a power cut may lose the last seconds. When the disk is full, that is logged once and batches are
 * kept in memory alone.
 */
export class Spool {
  readonly #file: string;
  readonly #log: Log;
  readonly #live = new Map<number, Batch>();
  /** How many bytes of the file each batch takes, by its id. */
  readonly #lineBytes = new Map<number, number>();
  #fd: number | null = null;
  #fileBytes = 0;
  #liveBytes = 0;
  #lastId = 0;
  #failing = false;

  constructor(file: string, log: Log) {
    this.#file = file;
    this.#log = log;
  }

  /** Called once before anything else. @returns the batches of an earlier process, oldest first. */
  load(): Batch[] {
    const { batches, damagedLines } = readSpool(this.#file, this.#log);
    if (damagedLines > 0) this.#log.warn({ damagedLines }, "Parts of a webhook spool could not be read.");
    for (const batch of batches) {
      this.#live.set(batch.id, batch);
      this.#lastId = Math.max(this.#lastId, batch.id);
    }
    if (batches.length > 0) this.#attempt(() => this.#rewrite());
    return batches;
  }

  add(webhook: string, body: string, events: number): Batch {
    const bytes = Buffer.byteLength(body);
    const batch: Batch = { id: (this.#lastId += 1), webhook, body, bytes, events, failingSinceMs: null };
    this.#live.set(batch.id, batch);
    this.#attempt(() => this.#append(this.#addLine(batch)));
    return batch;
  }

  /** Records since when the batch is failing. */
  failing(batch: Batch, sinceMs: number): void {
    batch.failingSinceMs = sinceMs;
    this.#attempt(() => this.#append(lineText({ failing: batch.id, sinceMs })));
  }

  /** Forgets a batch that was delivered or dropped. */
  remove(batch: Batch): void {
    if (!this.#live.delete(batch.id)) return;
    this.#liveBytes -= this.#lineBytes.get(batch.id) ?? 0;
    this.#lineBytes.delete(batch.id);
    this.#attempt(() => {
      if (this.#live.size === 0) this.#empty();
      else this.#append(lineText({ done: batch.id }));
      if (this.#fileBytes > 2 * this.#liveBytes + MAX_WASTE_BYTES) this.#rewrite();
    });
  }

  /** Leaves a file behind only when batches wait. */
  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
    if (this.#live.size === 0) this.#attempt(() => rmSync(this.#file, { force: true }));
  }

  #append(line: string): void {
    if (this.#fd === null) {
      mkdirSync(dirname(this.#file), { recursive: true });
      this.#fd = openSync(this.#file, "a", FILE_MODE);
    }
    appendFileSync(this.#fd, line);
    this.#fileBytes += Buffer.byteLength(line);
  }

  #empty(): void {
    // After `load` and `#rewrite` the file has batches and is not open.
    if (this.#fd === null) rmSync(this.#file, { force: true });
    else ftruncateSync(this.#fd, 0);
    this.#fileBytes = 0;
  }

  #rewrite(): void {
    this.#liveBytes = 0;
    const content = Array.from(this.#live.values(), (batch) => this.#addLine(batch)).join("");
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
    replaceFile(this.#file, content, FILE_MODE);
    this.#fileBytes = Buffer.byteLength(content);
  }

  #addLine({ id, webhook, body, events, failingSinceMs }: Batch): string {
    const line = lineText({ add: id, webhook, body, events, failingSinceMs });
    const bytes = Buffer.byteLength(line);
    this.#lineBytes.set(id, bytes);
    this.#liveBytes += bytes;
    return line;
  }

  #attempt(task: () => void): void {
    try {
      task();
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#log.error({ error }, "Webhooks that wait cannot be kept on the disk.");
      this.#failing = true;
    }
  }
}

function readSpool(file: string, log: Log): { batches: Batch[]; damagedLines: number } {
  const live = new Map<number, Batch>();
  let damagedLines = 0;
  for (const text of textOf(file, log).split("\n")) {
    if (text === "") continue;
    try {
      replay(live, JSON.parse(text) as Line);
    } catch {
      damagedLines += 1;
    }
  }
  return { batches: Array.from(live.values()), damagedLines };
}

function replay(live: Map<number, Batch>, line: Line): void {
  if ("done" in line) {
    live.delete(line.done);
    return;
  }
  if ("failing" in line) {
    const batch = live.get(line.failing);
    if (batch !== undefined) batch.failingSinceMs = line.sinceMs;
    return;
  }
  const { add: id, webhook, body, events, failingSinceMs } = line;
  live.set(id, { id, webhook, body, bytes: Buffer.byteLength(body), events, failingSinceMs });
}

function textOf(file: string, log: Log): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      log.error({ error }, "A webhook spool cannot be read.");
    }
    return "";
  }
}

/** The line break comes first, so that a line that was written in part does not spoil the next line. */
function lineText(line: Line): string {
  return `\n${JSON.stringify(line)}`;
}
