// Follows an engine's answers after the login: its unanswered commands, and whether its session is in a transaction.

const COM_QUIT = 0x01;
const COM_FIELD_LIST = 0x04;
const COM_STATISTICS = 0x09;
const COM_CHANGE_USER = 0x11;
const COM_STMT_PREPARE = 0x16;
const COM_STMT_SEND_LONG_DATA = 0x18;
const COM_STMT_CLOSE = 0x19;
const COM_STMT_FETCH = 0x1c;
/** Stands for the command of an unasked answer, such as the error of a killed session. */
const NO_COMMAND = 0xff;

const OK = 0x00;
const LOCAL_INFILE = 0xfb;
const EOF = 0xfe;
const ERR = 0xff;

const IN_TRANSACTION = 0x0001;
const MORE_RESULTS = 0x0008;
const CURSOR_EXISTS = 0x0040;

const HEADER_BYTES = 4;
/** The next packet continues a packet of this length. */
const FULL_LENGTH = 0xff_ffff;
/** The length of an EOF in its old form; its new form, an OK, is longer. */
const OLD_EOF_BYTES = 5;
const OLD_EOF_STATUS_AT = 3;
/** The error code of MariaDB's progress reports, which are no errors. */
const PROGRESS = 0xffff;
/** The longest part of a packet that is read: its header, a marker, two length-encoded numbers and a status. */
const LONGEST_HEAD_BYTES = HEADER_BYTES + 1 + 9 + 9 + 2;
/** How many answered commands are removed at once, so that a client that never waits costs no more than others. */
const FORGOTTEN_AT_ONCE = 1_024;

/** The next packet of an answer. */
type Stage = "none" | "first" | "columns" | "rows" | "definitions";

/**
 * A transaction that has touched no table yet shows only in the packets to its client: each OK and EOF has the status
 * flags of the session. An error has no flags, and leaves the known status unchanged. The cost is per packet, not per
 * byte.
 */
export class Answers {
  readonly #deprecatesEof: boolean;
  /** Commands in their order; the commands before `#next` are answered or being answered. */
  readonly #asked: number[] = [];
  #next = 0;
  /** The command that is being answered. */
  #command = NO_COMMAND;
  #stage: Stage = "none";
  /** The missing packets of the definitions of a prepared statement. */
  #definitionsLeft = 0;
  /** The missing bytes of the packet under way. */
  #payloadLeft = 0;
  /** Whether the next packet continues the packet under way. */
  #isContinued = false;
  /** The beginning of a packet whose rest has not arrived. */
  readonly #head = new Uint8Array(LONGEST_HEAD_BYTES);
  #headBytes = 0;
  #isInTransaction = false;
  #awaitsFile = false;

  /** @param deprecatesEof whether no EOF follows column definitions (both sides have DEPRECATE_EOF). */
  constructor(deprecatesEof: boolean) {
    this.#deprecatesEof = deprecatesEof;
  }

  /** Whether the engine's last status has a transaction. */
  get isInTransaction(): boolean {
    return this.#isInTransaction;
  }

  /** Whether the engine has asked for a file (LOAD DATA LOCAL), which the client has not ended yet. */
  get awaitsFile(): boolean {
    return this.#awaitsFile;
  }

  /** Notes that the client has ended its file. */
  endFile(): void {
    this.#awaitsFile = false;
  }

  /** Whether every command is answered. */
  get isComplete(): boolean {
    const isBetweenPackets = this.#headBytes === 0 && this.#payloadLeft === 0;
    return isBetweenPackets && this.#stage === "none" && this.#next === this.#asked.length;
  }

  /** Records a command that the engine is about to get. */
  ask(command: number): void {
    if (command === COM_QUIT || command === COM_STMT_CLOSE || command === COM_STMT_SEND_LONG_DATA) return;
    this.#asked.push(command);
  }

  /** Takes the next bytes of the engine, the first `length` of `bytes`. */
  observe(bytes: Uint8Array, length: number): void {
    let at = 0;
    while (at < length) {
      if (this.#payloadLeft > 0) {
        const step = Math.min(this.#payloadLeft, length - at);
        this.#payloadLeft -= step;
        at += step;
      } else if (this.#headBytes > 0 || length - at < LONGEST_HEAD_BYTES) {
        this.#takeHeadByte(bytes[at] ?? 0);
        at += 1;
      } else if (this.#stage === "rows" && !this.#isContinued) {
        const end = skipRows(bytes, at, length);
        at = end === at ? this.#takePacket(bytes, at) : end;
        if (end > length) this.#payloadLeft = end - length;
      } else {
        at = this.#takePacket(bytes, at);
      }
    }
  }

  /** Assembles the beginning of a packet that arrives in pieces. */
  #takeHeadByte(byte: number): void {
    const head = this.#head;
    head[this.#headBytes++] = byte;
    if (this.#headBytes < HEADER_BYTES) return;
    const whole = Math.min(HEADER_BYTES + lengthAt(head, 0), LONGEST_HEAD_BYTES);
    if (this.#headBytes < whole) return;
    this.#headBytes = 0;
    this.#takePacket(head, 0);
    this.#payloadLeft -= whole - HEADER_BYTES;
  }

  /** @returns the start of the packet's payload. */
  #takePacket(bytes: Uint8Array, at: number): number {
    const length = lengthAt(bytes, at);
    const payloadAt = at + HEADER_BYTES;
    const isOfRow = this.#isContinued || length === FULL_LENGTH;
    this.#isContinued = length === FULL_LENGTH;
    this.#payloadLeft = length;
    // A row whose first value is longer than 16 MB begins like an EOF.
    if (!isOfRow && length > 0) this.#judge(bytes, payloadAt, length);
    return payloadAt;
  }

  #judge(bytes: Uint8Array, at: number, length: number): void {
    if (this.#stage === "none") this.#begin();
    if (this.#stage === "definitions") return this.#takeDefinition();
    const marker = bytes[at];
    if (marker === ERR) {
      if (uint16At(bytes, at + 1) !== PROGRESS) this.#end();
    } else if (marker === EOF && this.#command !== COM_CHANGE_USER) {
      this.#takeStatus(
        uint16At(bytes, length === OLD_EOF_BYTES ? at + OLD_EOF_STATUS_AT : statusAt(bytes, at)),
      );
    } else if (this.#stage === "first") {
      this.#takeFirst(bytes, at);
    }
  }

  #begin(): void {
    this.#command = this.#asked[this.#next] ?? NO_COMMAND;
    this.#next += 1;
    if (this.#next >= this.#asked.length) this.#forget(this.#asked.length);
    else if (this.#next === FORGOTTEN_AT_ONCE) this.#forget(FORGOTTEN_AT_ONCE);
    const hasRowsAlone = this.#command === COM_STMT_FETCH || this.#command === COM_FIELD_LIST;
    this.#stage = hasRowsAlone ? "rows" : "first";
  }

  #forget(count: number): void {
    if (count === this.#asked.length) this.#asked.length = 0;
    else this.#asked.splice(0, count);
    this.#next = 0;
  }

  #takeFirst(bytes: Uint8Array, at: number): void {
    const marker = bytes[at];
    if (this.#command === COM_STATISTICS) return this.#end();
    if (marker === OK && this.#command === COM_STMT_PREPARE) return this.#beginDefinitions(bytes, at);
    if (marker === OK) return this.#takeStatus(uint16At(bytes, statusAt(bytes, at)));
    // The engine asks for a proof of the new user's password, or for a file; its answer is still to come.
    if (this.#command === COM_CHANGE_USER) return;
    if (marker === LOCAL_INFILE) return void (this.#awaitsFile = true);
    this.#stage = this.#deprecatesEof ? "rows" : "columns";
  }

  /** The numbers of columns and of parameters follow the number of the statement. */
  #beginDefinitions(bytes: Uint8Array, at: number): void {
    const columns = uint16At(bytes, at + 5);
    const parameters = uint16At(bytes, at + 7);
    const eofs = this.#deprecatesEof ? 0 : Number(columns > 0) + Number(parameters > 0);
    this.#definitionsLeft = columns + parameters + eofs;
    if (this.#definitionsLeft === 0) this.#end();
    else this.#stage = "definitions";
  }

  #takeDefinition(): void {
    this.#definitionsLeft -= 1;
    if (this.#definitionsLeft === 0) this.#end();
  }

  #takeStatus(status: number): void {
    this.#awaitsFile = false;
    this.#isInTransaction = (status & IN_TRANSACTION) !== 0;
    // Separate commands fetch the rows of a cursor.
    if (this.#stage === "columns" && (status & CURSOR_EXISTS) === 0) this.#stage = "rows";
    else if ((status & MORE_RESULTS) === 0) this.#end();
    else this.#stage = "first";
  }

  #end(): void {
    this.#awaitsFile = false;
    this.#stage = "none";
    this.#command = NO_COMMAND;
  }
}

/**
 * Skips rows, since nearly all packets are rows.
 * @returns the start of the first packet that is no row, or too incomplete to be known; or the end of an incomplete row,
 *   which is beyond `length`.
 */
function skipRows(bytes: Uint8Array, start: number, length: number): number {
  let at = start;
  while (at + HEADER_BYTES < length) {
    const size = lengthAt(bytes, at);
    if (size === 0 || size === FULL_LENGTH || (bytes[at + HEADER_BYTES] ?? 0) >= EOF) return at;
    at += HEADER_BYTES + size;
  }
  return at;
}

/** The length of the payload of the packet at an offset. */
export function lengthAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
}

function uint16At(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

/** The position of an OK's status: after the number of affected rows and the last inserted id. */
function statusAt(bytes: Uint8Array, at: number): number {
  const insertedAt = at + 1 + numberBytes(bytes[at + 1] ?? 0);
  return insertedAt + numberBytes(bytes[insertedAt] ?? 0);
}

/** The size of a length-encoded number, by its first byte. */
function numberBytes(first: number): number {
  if (first < 0xfb) return 1;
  if (first === 0xfc) return 3;
  return first === 0xfd ? 4 : 9;
}
