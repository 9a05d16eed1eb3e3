// What a Postgres says while it replays its log: where it stops, and why it ends.
import { parseLsn } from "./lsn.ts";

/** As many lines of the end of the log are kept for the operator. */
const KEPT_LINES = 40;
const MAX_LINE_CHARACTERS = 1_000;

const READY = /^LOG: {2}database system is ready to accept connections/;
const STOPPED = /^LOG: {2}recovery stopping (?:before|after) /;
const POSITION = /^LOG: {2}(?:redo starts at|redo in progress, .*current LSN:) ([0-9A-F]+\/[0-9A-F]+)/;
const LAST_COMMIT = /^LOG: {2}last completed transaction was at log time (\S+) (\S+?)\+00$/;
const FATAL = /^(?:FATAL|PANIC): {2}(.*)/;

/** The target of a recovery lies after the end of the log, or the log has a gap before it. */
const EARLY = "recovery ended before configured recovery target was reached";

/** Reads the log of one run as it is written. */
export class ServerLog {
  /** Resolves with true at the line that says that the server takes connections. */
  readonly ready: Promise<boolean>;
  /** Resolves when the log has ended. */
  readonly ended: Promise<void>;
  /** Whether the replay was stopped by the target of the recovery. */
  hasStoppedAtTarget = false;
  /** Whether the replay ended before the target of the recovery. */
  endedEarly = false;
  /** The position that was replayed last, as far as the server said; null before that. */
  position: bigint | null = null;
  /** The time of the last commit that was replayed, ISO 8601; null when there was none. */
  lastCommitAt: string | null = null;
  /** Why the server ended by itself. */
  reason: string | null = null;
  /** Called after each line that says how far the replay is. */
  onPosition: (position: bigint) => void = () => undefined;
  readonly #lines: string[] = [];
  readonly #isReady = Promise.withResolvers<boolean>();

  constructor(stream: ReadableStream<Uint8Array>) {
    this.ready = this.#isReady.promise;
    this.ended = this.#read(stream);
  }

  /** The end of the log, for the operator. */
  get tail(): string {
    return this.#lines.join("\n");
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let unread = "";
    for await (const chunk of stream) {
      const lines = (unread + decoder.decode(chunk, { stream: true })).split("\n");
      // A line of any length takes bounded memory.
      unread = (lines.pop() ?? "").slice(0, MAX_LINE_CHARACTERS);
      for (const line of lines) this.#take(line.slice(0, MAX_LINE_CHARACTERS));
    }
  }

  #take(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    if (READY.test(line)) this.#isReady.resolve(true);
    if (STOPPED.test(line)) this.hasStoppedAtTarget = true;
    const [, day, time] = LAST_COMMIT.exec(line) ?? [];
    if (day !== undefined) this.lastCommitAt = `${day}T${time}Z`;
    const [, position] = POSITION.exec(line) ?? [];
    if (position !== undefined) this.onPosition((this.position = parseLsn(position)));
    const [, reason] = FATAL.exec(line) ?? [];
    if (reason === undefined) return;
    if (reason.includes(EARLY)) this.endedEarly = true;
    // The first reason is the cause of the later ones.
    this.reason ??= reason;
  }
}
