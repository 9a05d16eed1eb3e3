// The log of a build: lines of its steps, without the values of secrets, bounded for each step.
import { closeSync, existsSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import {
  buildLogLineSchema,
  MAX_BUILD_LOG_LINES,
  MAX_LINE_CHARACTERS,
  MAX_STEP_OUTPUT,
  type BuildLogLine,
  type BuildLogSlice,
} from "../../contracts/builds.ts";
import { partsRedactor, type PartsRedactor } from "../../lib/redaction.ts";
import { readJsonAs } from "../../contracts/read.ts";

/** What a line takes in the file beside its text, so that short lines count as well. */
const LINE_BYTES = 64;

const CUT = "This step wrote too much; the rest of its output is not kept.";

/** How much of the file is read for a slice. */
const SLICE_BYTES = 1024 ** 2;

/** A line of output, or a part of it whose rest follows. */
interface OutputLine {
  text: string;
  isOpen: boolean;
}

/** Writes the log of one build. */
export class BuildLogWriter {
  readonly #path: string;
  #fd: number | null = null;
  readonly #redactor: () => PartsRedactor;
  readonly #onProgress: () => void;

  private constructor(path: string, redactor: () => PartsRedactor, onProgress: () => void) {
    this.#path = path;
    this.#redactor = redactor;
    this.#onProgress = onProgress;
  }

  /**
   * A log without a line; many secrets take their time.
   * @param secrets values that never appear; the lines of a value are secret by themselves.
   * @param onProgress called after each write, and when it is closed.
   */
  static async of(
    path: string,
    secrets: readonly string[],
    onProgress: () => void = () => {},
  ): Promise<BuildLogWriter> {
    return new BuildLogWriter(path, await partsRedactor(secrets), onProgress);
  }

  /** Cuts the secrets out of an output that comes in parts. */
  redactor(): PartsRedactor {
    return this.#redactor();
  }

  /** Writes a message as a line of a step. @throws when the disk does not take it. */
  write(step: string, message: string): void {
    const redactor = this.#redactor();
    this.writeRedacted(step, [{ text: redactor.add(message) + redactor.end(), isOpen: false }]);
  }

  /** Writes lines of a step without secrets, in one go. @throws when the disk does not take them. */
  writeRedacted(step: string, lines: readonly OutputLine[]): void {
    const at = new Date().toISOString();
    this.#append(lines.map(({ text, isOpen }) => ({ at, step, text, ...(isOpen && { isOpen }) })));
  }

  /** Notes that the further output of a step is not kept. */
  cut(step: string): void {
    this.#append([{ at: new Date().toISOString(), step, text: CUT, isCut: true }]);
  }

  #append(lines: BuildLogLine[]): void {
    if (lines.length === 0) return;
    this.#fd ??= openSync(this.#path, "a", 0o600);
    writeSync(this.#fd, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    this.#onProgress();
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#onProgress();
  }
}

/** Cuts the output of a step into lines, up to its bound. */
export class StepOutput {
  readonly #newStream: () => StreamLines;
  readonly #write: (lines: readonly OutputLine[]) => void;
  readonly #cut: () => void;
  readonly #streams: StreamLines[] = [];
  #kept = 0;
  #received = 0;
  #isCut = false;
  /** The stream whose last part in the log is open. */
  #open: StreamLines | null = null;

  constructor(log: Pick<BuildLogWriter, "redactor" | "writeRedacted" | "cut">, step: string) {
    this.#newStream = () => new StreamLines(log.redactor());
    this.#write = (lines) => log.writeRedacted(step, lines);
    this.#cut = () => log.cut(step);
  }

  /** All bytes so far, kept or not. */
  get received(): number {
    return this.#received;
  }

  /** @returns a function that takes the bytes of a stream, such as the errors, which has lines of its own. */
  stream(): (bytes: Uint8Array) => void {
    const stream = this.#newStream();
    this.#streams.push(stream);
    return (bytes) => {
      this.#received += bytes.length;
      if (!this.#isCut) this.#keep(stream, stream.take(bytes));
    };
  }

  end(): void {
    for (const stream of this.#streams) this.#keep(stream, stream.end());
  }

  #keep(stream: StreamLines, lines: readonly OutputLine[]): void {
    const bounded = lines.map((line) => this.#bounded(line));
    const kept = bounded.flatMap((parts) => parts ?? []);
    if (kept.length > 0 && this.#open !== stream) this.#close();
    this.#write(kept);
    const last = kept.at(-1);
    if (last !== undefined) this.#open = last.isOpen ? stream : null;
    if (this.#isCut || !bounded.includes(null)) return;
    this.#isCut = true;
    this.#close();
    this.#cut();
  }

  /** Ends an open line, before something else follows. */
  #close(): void {
    if (this.#open !== null) this.#write([{ text: "", isOpen: false }]);
    this.#open = null;
  }

  /** The line as the log has it, in several lines when it is long; null beyond the bound. */
  #bounded({ text, isOpen }: OutputLine): OutputLine[] | null {
    if (this.#kept > MAX_STEP_OUTPUT) return null;
    // A program that shows progress writes a line again and again.
    const shown = text.split("\r").findLast((part) => part !== "") ?? "";
    this.#kept += text.length + LINE_BYTES;
    // What comes after a carriage return stands in the place of what came before.
    const goesOn = isOpen && !text.includes("\r");
    const parts = partsOf(shown);
    return parts.map((part, at) => ({ text: part, isOpen: at < parts.length - 1 || goesOn }));
  }
}

/** The lines of a stream, without secrets. */
class StreamLines {
  readonly #decoder = new TextDecoder();
  /** Comes before every cut, which would make two halves of a secret that nothing recognizes. */
  readonly #redactor: PartsRedactor;
  /** The beginning of a line whose end has not come. */
  #rest = "";

  constructor(redactor: PartsRedactor) {
    this.#redactor = redactor;
  }

  take(bytes: Uint8Array): OutputLine[] {
    const parts = this.#decoder.decode(bytes, { stream: true }).split("\n");
    const begun = parts.pop() ?? "";
    const lines = parts.map((part) => ({ text: this.#lineTo(part), isOpen: false }));
    this.#rest += this.#redactor.add(begun);
    while (this.#rest.length > MAX_LINE_CHARACTERS) {
      const end = endOfPart(this.#rest, 0);
      lines.push({ text: this.#rest.slice(0, end), isOpen: true });
      this.#rest = this.#rest.slice(end);
    }
    return lines;
  }

  /** The last line, if it has not ended. */
  end(): OutputLine[] {
    const last = this.#lineTo("");
    return last === "" ? [] : [{ text: last, isOpen: false }];
  }

  /** The line that ends with this part. */
  #lineTo(part: string): string {
    const line = this.#rest + this.#redactor.add(part) + this.#redactor.end();
    this.#rest = "";
    return line;
  }
}

/** Cuts a line into parts that the log takes; an empty line is one part. */
function partsOf(line: string): string[] {
  const parts: string[] = [];
  let at = 0;
  do {
    const end = endOfPart(line, at);
    parts.push(line.slice(at, end));
    at = end;
  } while (at < line.length);
  return parts;
}

/** Where the part of a line ends that begins at an offset: never within a character, whose halves nobody can print. */
function endOfPart(line: string, at: number): number {
  const end = at + MAX_LINE_CHARACTERS;
  const isWithin = end < line.length && /[\uD800-\uDBFF]/.test(line.charAt(end - 1));
  return isWithin ? end - 1 : end;
}

/** Reads lines after a position; empty when there are none yet. */
export function readBuildLog(path: string, after: number): Omit<BuildLogSlice, "isEnd"> {
  if (!existsSync(path)) return { lines: [], next: 0 };
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const start = Math.min(after, size);
    if (start === size) return { lines: [], next: start };
    const bytes = Buffer.alloc(Math.min(SLICE_BYTES, size - start));
    const length = readSync(fd, bytes, 0, bytes.length, start);
    return linesIn(bytes.subarray(0, length), start);
  } finally {
    closeSync(fd);
  }
}

function linesIn(bytes: Buffer, start: number): Omit<BuildLogSlice, "isEnd"> {
  const lines: BuildLogLine[] = [];
  let at = 0;
  while (lines.length < MAX_BUILD_LOG_LINES) {
    const end = bytes.indexOf(10, at);
    if (end < 0) break;
    const line = lineIn(bytes.toString("utf8", at, end));
    if (line !== null) lines.push(line);
    at = end + 1;
  }
  return { lines, next: start + at };
}

/** A position in the middle of a line, or a line that a full disk has cut, gives none. */
function lineIn(text: string): BuildLogLine | null {
  try {
    return readJsonAs(buildLogLineSchema, text, "A line of the log");
  } catch {
    return null;
  }
}
